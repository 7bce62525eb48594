// Hands what a report in this page says to the kernel.  It listens as long as the model lives, with or without a view.
export default {
  initialize({model}) {
    const receive = ({data}) => {
      if (!data || data.report !== model.get("name")) return
      for (const name of ["rows", "iteration"]) if (name in data) model.set(name, data[name])
      model.save_changes()
    }
    addEventListener("message", receive)
    return () => removeEventListener("message", receive)
  },
  render({model}) {
    model.set("heard", true)
    model.save_changes()
  },
}
