/**
 * Runs in the browser, as part of Swagger UI, so that it can use nothing from outside itself.
 * Swagger UI would go through the whole document for each operation that is opened, which takes it
 * a second; ours refers to its own components alone, and never in a circle, so that what is opened
 * can be resolved by itself.
 */
export function pagePlugin() {
  return {
    fn: {
      resolveSubtree: async (document: unknown, path: readonly string[]) => {
        const at = (keys: readonly string[]): unknown =>
          keys.reduce<unknown>((node, key) => Reflect.get(Object(node), key), document);
        const resolved = (node: unknown): unknown => {
          if (Array.isArray(node)) return node.map(resolved);
          if (typeof node !== 'object' || node === null) return node;
          if ('$ref' in node) return resolved(at(String(node.$ref).replace('#/', '').split('/')));
          return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value)]));
        };
        return { spec: resolved(at(path)), errors: [] };
      },
    },
  };
}
