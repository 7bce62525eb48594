// The style of what only screen readers and programs read.
export const HIDDEN =
  "position:fixed;inset:0 auto auto 0;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
