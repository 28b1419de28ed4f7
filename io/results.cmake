target_sources(block_eigs_io PRIVATE hdf5_storage.cpp hdf5_writer.cpp nearest_name.cpp output_path.cpp result_file.cpp yaml_document.cpp yaml_section.cpp)
