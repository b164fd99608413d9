import type { Parsed } from './problems.ts';

/** The environment, like `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Replaces `${NAME}` by the environment variable of that name and `$$` by a dollar; other dollars
 * stay. If the text may be a key, a problem does not quote the name: it may be the key itself.
 */
export function substituteVariables(text: string, env: Environment, mayBeKey: boolean): Parsed<string> {
  let problem: string | undefined;
  const value = text.replaceAll(/\$\$|\$\{([^}]*)(\}?)/g, (found, name?: string, end?: string) => {
    if (name === undefined) return '$';
    // Quoted only if it is a valid name: other texts may be part of a key that contains a dollar.
    if (end !== '}' || !/^[A-Za-z_]\w*$/.test(name)) {
      problem ??= '${ must be followed by the name of an environment variable and }; write $$ for a plain dollar';
      return found;
    }
    const replacement = Object.hasOwn(env, name) ? env[name] : undefined;
    if (replacement !== undefined) return replacement;
    // Longer than usual names, and as long as a key or a token.
    const unnamed = mayBeKey || name.length > 40;
    problem ??= `the environment variable ${unnamed ? 'in it' : name} is not set; set it for the exporter, or write $$ for a plain dollar`;
    return found;
  });
  return problem === undefined ? { value } : { problem };
}
