/** Turns the style attributes of highlighted code into classes, because the policy of the gateway's pages refuses the former. */
export function colourClasses() {
  const classes = new Map();
  const classOf = (style) => {
    const known = classes.get(style) ?? `c${classes.size}`;
    classes.set(style, known);
    return known;
  };
  return {
    transformer: {
      name: 'till:colour-classes',
      postprocess: (html) =>
        html
          .replace(/<span style="([^"]*)">/g, (_whole, style) => `<span class="${classOf(style)}">`)
          .replace(/(<pre[^>]*?) style="[^"]*"/g, '$1'),
    },
    sheet: () => [...classes].map(([style, name]) => `.vp-code .${name}{${style}}`).join('\n'),
  };
}
