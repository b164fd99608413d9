import { applianceUrl } from './parsers.ts';
import { closestWord } from '../lib/text.ts';
import type { Path, Problems } from './problems.ts';
import type { Environment, YamlSource } from './yaml-file.ts';

/**
 * The environment variables that configure one appliance, each with the configuration key that it
 * sets.
 */
export const environmentVariables = [
  { variable: 'ZLB_APPLIANCE_NAME', key: 'name' },
  { variable: 'ZLB_APPLIANCE_URL', key: 'url' },
  { variable: 'ZLB_API_KEY', key: 'api_key' },
  { variable: 'ZLB_API_KEY_FILE', key: 'api_key_file' },
  { variable: 'ZLB_TLS_FINGERPRINT_SHA256', key: 'tls.fingerprint_sha256' },
  { variable: 'ZLB_TLS_INSECURE_SKIP_VERIFY', key: 'tls.insecure_skip_verify' },
] as const;

type Variable = (typeof environmentVariables)[number]['variable'];

const applianceVariables: readonly string[] = environmentVariables.map(({ variable }) => variable);
/** Variables that other commands, the image or the service read, and their use. */
export const otherVariables = {
  ZLB_CONFIG_FILE: 'the configuration, unless --config.file names it',
  ZLB_EXPORTER_URL: 'the exporter that history and plugin ask',
  ZLB_ADMIN_URL: 'the gateway that admin and deliver ask',
  ZLB_ADMIN_TOKEN_FILE: 'the file with the token for it',
  ZLB_ADMIN_TOKEN: 'the token itself',
  ZLB_EXPORTER_FLAGS: 'flags of the service',
  ZLB_NODE_FLAGS: 'flags of Node.js for the service',
  ZLB_EXPORTER_REVISION: 'the commit that --version prints',
} as const;

/**
 * Returns true if one of the variables is set, or a misspelt one, which is a mistake to report and
 * not a request for the demonstration.
 */
export function hasEnvironmentAppliance(env: Environment): boolean {
  return applianceVariables.some((variable) => env[variable]) || misspeltAppliance(env).length > 0;
}

/**
 * Returns the variables that look like one of the program's, mistyped or with only parts of its
 * name, and the one that was probably meant. Others that start with `ZLB_` belong to somebody else;
 * Kubernetes sets several for a Service of such a name.
 */
export function misspeltVariables(env: Environment) {
  const known = [...applianceVariables, ...Object.keys(otherVariables)];
  return Object.keys(env).flatMap((variable) => {
    if (!variable.startsWith('ZLB_') || !env[variable] || known.includes(variable)) return [];
    const parts = `${variable.slice('ZLB'.length)}_`;
    const meant = closestWord(variable, known) ?? known.find((each) => `${each}_`.includes(parts));
    return meant === undefined ? [] : [{ variable, meant }];
  });
}

function misspeltAppliance(env: Environment) {
  return misspeltVariables(env).filter(({ meant }) => applianceVariables.includes(meant));
}

/**
 * Reports the misspelt variables of an appliance, unless a file of the configuration uses them as
 * `${NAME}`.
 */
export function reportMisspelt(env: Environment, used: ReadonlySet<string>, problems: Problems): void {
  for (const { variable, meant } of misspeltAppliance(env))
    if (!used.has(variable))
      problems.report(
        { file: 'environment', key: variable },
        `is not a variable of this program; did you mean ${meant}? Set that one, or unset this one`,
      );
}

/**
 * Returns the appliance of the environment as if a file had listed it. An empty variable counts as
 * unset.
 */
export function readEnvironment(env: Environment, problems: Problems): YamlSource {
  const set = (variable: Variable) => env[variable] || undefined;
  const report = (variable: Variable, message: string) =>
    problems.report({ file: 'environment', key: variable }, message);
  if (!set('ZLB_APPLIANCE_URL'))
    report('ZLB_APPLIANCE_URL', 'is not set; set it to the address of the appliance, such as https://192.0.2.10:444');
  if (!set('ZLB_API_KEY') && !set('ZLB_API_KEY_FILE'))
    report('ZLB_API_KEY', 'is not set; set it to the API key, or ZLB_API_KEY_FILE to the path of a file that holds it');
  if (set('ZLB_API_KEY') && set('ZLB_API_KEY_FILE'))
    report('ZLB_API_KEY', 'contradicts ZLB_API_KEY_FILE; unset one of the two');

  const url = applianceUrl(set('ZLB_APPLIANCE_URL') ?? '');
  const appliance = {
    name: set('ZLB_APPLIANCE_NAME') ?? ('value' in url ? url.value.hostname : 'environment'),
    url: set('ZLB_APPLIANCE_URL'),
    api_key: set('ZLB_API_KEY'),
    api_key_file: set('ZLB_API_KEY_FILE'),
    tls: {
      fingerprint_sha256: set('ZLB_TLS_FINGERPRINT_SHA256'),
      insecure_skip_verify: set('ZLB_TLS_INSECURE_SKIP_VERIFY'),
    },
  };
  return {
    // JSON drops undefined values: an unset variable becomes an absent key.
    value: { appliances: [JSON.parse(JSON.stringify(appliance))] },
    locate: (path) => ({ file: 'environment', key: variableOf(path) }),
  };
}

function variableOf(path: Path): Variable {
  const key = path.slice(2).join('.');
  return environmentVariables.find((row) => row.key === key)?.variable ?? 'ZLB_APPLIANCE_URL';
}
