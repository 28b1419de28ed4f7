target_sources(block_eigs_io PRIVATE hdf5/hdf5_storage.cpp hdf5/hdf5_writer.cpp config/nearest_name.cpp result/output_path.cpp result/result_file.cpp config/yaml_document.cpp config/yaml_section.cpp)
