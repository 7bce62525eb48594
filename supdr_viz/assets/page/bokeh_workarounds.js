// What Bokeh's scripts lack. Nothing else reaches into them.

// Have the page send the identifier alone of a model that the server has sent, as of all others. Bokeh takes such a model
// for new until the page's next message. If that message speaks of the model, it holds all of it, and the server warns
// "reference already known" (a warning since https://github.com/bokeh/bokeh/pull/12915).
export function knowReceivedModels(shown) {
  const apply = shown._apply_json_patch
  shown._apply_json_patch = (...patch) => {
    const unsent = new Set(shown._new_models)
    apply.apply(shown, patch)
    for (const model of shown._new_models) if (!unsent.has(model)) shown._new_models.delete(model)
  }
}
