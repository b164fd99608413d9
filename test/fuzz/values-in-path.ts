/**
 * The names that an appliance finds in a path which it takes for a call of this template: it
 * decodes once, and then goes from slash to slash. Throws where the path is of another template, or
 * is not read alike by everybody on the way.
 */
export function valuesIn(path: string, template: string): readonly string[] {
  const kept = new URL(path, 'https://appliance.example');
  if (kept.pathname !== path || kept.search !== '' || kept.hash !== '')
    throw new Error(`a URL makes ${kept.pathname}${kept.search}${kept.hash} of ${path}`);
  const source = template.replaceAll(/\{[^}*]+\*\}/g, '(.+)').replaceAll(/\{[^}*]+\}/g, '([^/]+)');
  const match = new RegExp(`^${source}$`, 's').exec(decodeURIComponent(path));
  if (!match) throw new Error(`${path} is not ${template}`);
  return match.slice(1);
}
