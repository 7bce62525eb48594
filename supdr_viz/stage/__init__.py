"""The live views: canvases that the browser draws itself, fed by one binary message a frame."""
