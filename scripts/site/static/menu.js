// The versions that lie beside this one, as a menu below the name. scripts/docs writes their list, versions.js; without it there is none.
(function () {
  const base = new URL("../../", document.currentScript.src);
  const list = document.createElement("script");
  list.src = new URL("versions.js", base);
  list.onload = function () {
    const here = decodeURI(location.pathname.slice(base.pathname.length)).split("/");
    const menu = document.createElement("select");
    menu.setAttribute("aria-label", "version");
    for (const version of window.documentedVersions) menu.add(new Option("version " + version, version, false, version === here[0]));
    menu.onchange = () => { location.href = new URL(menu.value + "/index.html", base); };
    const place = document.createElement("div");
    place.className = "version-menu";
    place.append(menu);
    const search = document.querySelector(".sidebar-search-container");
    if (search) search.before(place);
  };
  document.addEventListener("DOMContentLoaded", () => document.head.append(list));
})();
