import { stat } from 'node:fs/promises';
import { createDecoder } from '../../appliance/decode.ts';
import { operationRoutes } from '../../gateway/policy.ts';
import { collectorDefaults } from '../../collectors/registry.ts';
import { hasEnvironmentAppliance } from '../../config/environment.ts';
import { createFiles, type Files } from '../../config/files.ts';
import { loadSettings } from '../../config/load.ts';
import { settingsOfShard } from '../../config/settings.ts';
import { loadWebSettings, type WebSettings } from '../../config/web-settings.ts';
import { counted } from '../../lib/text.ts';
import { parseShard } from '../../lib/shard.ts';
import { type Command, optionalFlag, textFlag, UsageError } from '../command.ts';
import { readShownCertificate } from '../fingerprint.ts';
import { addressOf, type ApplianceCheck, probeAppliance, type ProbeParts } from './probe.ts';
import { adminKeyFinding, gatewayLines, ownCertificateLine } from './gateway.ts';
import { findingsOf } from './findings.ts';
import { reportLines, summaryLine } from './report.ts';

/**
 * Validates the configuration, probes each appliance read-only, and prints a report about each: one
 * line for programs, the details below it.
 */
export const check: Command = async ({ flags, env, stopped, say, warn, shell }) => {
  const file = optionalFlag(flags, 'config.file');
  const webFile = optionalFlag(flags, 'web.config.file');
  const hasAppliances = file !== undefined || hasEnvironmentAppliance(env);
  if (!hasAppliances && webFile === undefined)
    throw new UsageError('nothing to check: give --config.file=PATH, or set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE');
  if (webFile !== undefined)
    for (const line of webLines(await loadWebSettings({ file: webFile, env }), Date.now())) say(line);
  if (!hasAppliances) return 0;

  const files = noteKeyFiles(createFiles({ path: file }));
  const remarks: string[] = [];
  const whole = await loadSettings({
    ...(file === undefined ? {} : { file }),
    env,
    collectorDefaults,
    operations: operationRoutes(),
    files,
    onRemark: (line) => remarks.push(line),
  });
  const settings = settingsOfShard(whole, parseShard(textFlag(flags, 'shard')));
  say(`The configuration is valid: ${counted(whole.appliances.length, 'appliance')}.`);
  const { shard, appliances } = settings;
  if (shard) say(`Shard ${shard.index}/${shard.count} watches ${appliances.length} of them.`);
  for (const remark of remarks) say(`${shell.paint('yellow', 'Warning')}  ${remark}`);
  (await openKeyLines(files.keyFiles)).forEach(say);

  const decode = createDecoder();
  const width = Math.max(...appliances.map(({ name }) => name.length));
  let failed = 0;
  let withFindings = 0;
  for (const appliance of appliances) {
    if (stopped.aborted) {
      warn('Stopped before all appliances were checked.');
      return 1;
    }
    const checked = await checkAppliance({ appliance, settings, decode, stopped });
    const ok = checked.probe.failure === undefined;
    const keyFinding = ok ? await adminKeyFinding(appliance, settings, decode, stopped) : undefined;
    const findings = [...findingsOf(checked), ...(keyFinding ? [keyFinding] : [])];
    if (!ok) failed += 1;
    if (ok && findings.length > 0) withFindings += 1;
    const result = ok ? shell.paint('green', 'ok    ') : shell.paint('red', 'FAILED');
    say(`${appliance.name.padEnd(width)}  ${result}  ${summaryLine(checked)}`);
    reportLines(checked, findings).forEach(say);
  }
  if (env.ZLB_APPLIANCE_URL && failed + withFindings > 0) variableLines.forEach(say);
  for (const line of gatewayLines(settings.admin, Date.now())) say(line);
  if (failed > 0) {
    warn(`${failed} of ${counted(appliances.length, 'appliance')} cannot be polled as configured.`);
    return 1;
  }
  const remark = withFindings > 0 ? `; ${withFindings} with something to fix` : '';
  say(`${counted(appliances.length, 'appliance')} can be polled as configured${remark}.`);
  return 0;
};

/** The remedies show keys of the configuration file. */
const variableLines = [
  '',
  'The appliance is given by the environment: write url as ZLB_APPLIANCE_URL, api_key_file as ZLB_API_KEY_FILE',
  'and tls.fingerprint_sha256 as ZLB_TLS_FINGERPRINT_SHA256. Other keys need a file.',
] as const;

async function checkAppliance(parts: ProbeParts): Promise<ApplianceCheck> {
  const { appliance, settings, stopped } = parts;
  const probe = await probeAppliance(parts);
  const { host, port } = addressOf(appliance);
  // A second connection would fail as the first one did, after the same wait.
  const unreachable = ['connect', 'timeout', 'cancelled'].includes(probe.failure?.reason ?? '');
  const shown = unreachable
    ? undefined
    : await readShownCertificate({ host, port, serverName: appliance.tls.serverName, signal: stopped }).catch(
        // The report then has no line about the certificate.
        () => undefined,
      );
  return { appliance, settings, probe, shown, nowMs: Date.now() };
}

/** Returns lines about the protection of the metrics listener and the end of its certificate. */
function webLines({ tls, users }: WebSettings, nowMs: number): readonly string[] {
  const transport = tls ? 'TLS' : 'plain HTTP';
  const clients = tls && tls.clientAuth !== 'NoClientCert' ? `, client_auth_type ${tls.clientAuth}` : '';
  const passwords = users.size === 0 ? 'no password' : `${users.size} ${users.size === 1 ? 'user' : 'users'}`;
  const protection = `The web configuration is valid: ${transport}${clients}, ${passwords}.`;
  if (!tls) return [protection];
  return [protection, ownCertificateLine(tls.cert, 'Prometheus does', nowMs)];
}

/** Files that record which of them hold keys. */
interface NotedFiles extends Files {
  readonly keyFiles: ReadonlySet<string>;
}

function noteKeyFiles(files: Files): NotedFiles {
  const keyFiles = new Set<string>();
  return {
    list: files.list,
    haveChanged: () => files.haveChanged(),
    get mainText() {
      return files.mainText;
    },
    keyFiles,
    async readText(path, purpose) {
      const text = await files.readText(path, purpose);
      if (purpose === 'key' || ('value' in text && keyInYaml.test(text.value))) keyFiles.add(path);
      return text;
    },
  };
}

/** Matches an API key that is in the configuration itself and not in an environment variable. */
const keyInYaml = /^[^#\n]*\b(?:admin_)?api_key["']?\s*:\s*(?!["']?\$\{)\S/m;

const readableByAll = 0o004;

/** Returns a line for each file with a key that every user of this machine can read. */
async function openKeyLines(keyFiles: ReadonlySet<string>): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const path of keyFiles) {
    const { mode } = await stat(path);
    if ((mode & readableByAll) !== 0)
      lines.push(
        `Every user of this machine can read the key in ${path}. Give it to the exporter alone: chmod 600 ${path}`,
      );
  }
  return lines;
}
