/** The URLs in the tree of `printRoutes({ commonPrefix: false })`: four characters of indentation for each level. */
export function registeredUrls(tree: string): string[] {
  const above: string[] = [];
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', text = '', methods] = /^([│├└─ ]*)(\S*)(?: \((.*)\))?$/u.exec(line) ?? [];
    const depth = indent.length / 4;
    above.length = depth;
    above.push(text);
    return methods === undefined ? [] : [above.join('')];
  });
}
