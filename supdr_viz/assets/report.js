load(JSON.parse(document.getElementById("film").textContent))
