import { stat } from 'node:fs/promises';
import { createDecoder } from '../../appliance/decode.ts';
import { operationRoutes } from '../../gateway/policy.ts';
import { collectorDefaults } from '../../collectors/registry.ts';
import { hasEnvironmentAppliance } from '../../config/environment.ts';
import { createFiles, type Files } from '../../config/files.ts';
import { loadSettings } from '../../config/load.ts';
import { ConfigError } from '../../config/problems.ts';
import { type Settings, settingsOfShard } from '../../config/settings.ts';
import { loadWebSettings, type WebSettings } from '../../config/web-settings.ts';
import { counted } from '../../lib/text.ts';
import { parseShard } from '../../lib/shard.ts';
import { type Command, type CommandContext, optionalFlag, textFlag, UsageError } from '../command.ts';
import { readShownCertificate } from '../fingerprint.ts';
import { probeFarms } from './farm-probes.ts';
import { addressOf, type ApplianceCheck, probeAppliance, type ProbeParts } from './probe.ts';
import { adminKeyFinding, gatewayNotes, ownCertificateNote } from './gateway.ts';
import { findingsOf } from './findings.ts';
import { createJsonReport, writeRefusal } from './json-report.ts';
import { createTextReport, type Note, type Report } from './report.ts';

/** Validates the configuration, probes each appliance read-only, and reports about each. */
export const check: Command = async (context) => {
  const { flags, shell } = context;
  const isJson = flags['json'] === true;
  const report = isJson ? createJsonReport(shell) : createTextReport(context, flags['quiet'] === true);
  try {
    return await checkAll(context, report);
  } catch (error) {
    if (!isJson || !(error instanceof ConfigError)) throw error;
    await writeRefusal(error, shell);
    return 2;
  }
};

async function checkAll(context: CommandContext, report: Report): Promise<number> {
  const { flags, env } = context;
  const file = optionalFlag(flags, 'config.file');
  const webFile = optionalFlag(flags, 'web.config.file');
  const hasAppliances = file !== undefined || hasEnvironmentAppliance(env);
  if (!hasAppliances && webFile === undefined)
    throw new UsageError('nothing to check: give --config.file=PATH, or set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE');
  if (webFile !== undefined) webNotes(await loadWebSettings({ file: webFile, env }), Date.now()).forEach(report.note);
  if (!hasAppliances) return await report.end(0);

  const settings = await loadWithNotes(context, report);
  const { appliances } = settings;
  const decode = createDecoder();
  let failed = 0;
  let withFindings = 0;
  for (const appliance of appliances) {
    if (context.stopped.aborted)
      return await report.end(1, { text: 'Stopped before all appliances were checked.', isWrong: true });
    const checked = await checkAppliance({ appliance, settings, decode, stopped: context.stopped });
    const ok = checked.probe.failure === undefined;
    const keyFinding = ok ? await adminKeyFinding(appliance, settings, decode, context.stopped) : undefined;
    const findings = [...findingsOf(checked), ...(keyFinding ? [keyFinding] : [])];
    if (!ok) failed += 1;
    if (ok && findings.length > 0) withFindings += 1;
    report.appliance(checked, findings);
  }
  if (env.ZLB_APPLIANCE_URL && failed + withFindings > 0) variableNotes.forEach(report.note);
  gatewayNotes(settings.admin, Date.now()).forEach(report.note);
  const all = counted(appliances.length, 'appliance');
  if (failed > 0)
    return await report.end(1, { text: `${failed} of ${all} cannot be polled as configured.`, isWrong: true });
  const remark = withFindings > 0 ? `; ${withFindings} with something to fix` : '';
  return await report.end(0, { text: `${all} can be polled as configured${remark}.` });
}

/** Loads the settings of this shard, and notes what is allowed and probably a mistake. */
async function loadWithNotes({ flags, env }: CommandContext, report: Report): Promise<Settings> {
  const file = optionalFlag(flags, 'config.file');
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
  report.note({ text: `The configuration is valid: ${counted(whole.appliances.length, 'appliance')}.` });
  const { shard, appliances } = settings;
  if (shard) report.note({ text: `Shard ${shard.index}/${shard.count} watches ${appliances.length} of them.` });
  for (const remark of remarks) report.note({ text: remark, isWrong: true });
  (await openKeyNotes(files.keyFiles)).forEach(report.note);
  return settings;
}

/** The remedies show keys of the configuration file. */
const variableNotes: readonly Note[] = [
  '',
  'The appliance is given by the environment: write url as ZLB_APPLIANCE_URL, api_key_file as ZLB_API_KEY_FILE',
  'and tls.fingerprint_sha256 as ZLB_TLS_FINGERPRINT_SHA256. Other keys need a file.',
].map((text) => ({ text }));

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
  const isProbed = appliance.collectors.vip?.enabled === true && probe.failure === undefined;
  const farmProbes = isProbed && probe.farms ? await probeFarms(probe.farms, appliance.vip, stopped) : undefined;
  return { appliance, settings, probe, farmProbes, shown, nowMs: Date.now() };
}

/** Returns notes about the protection of the metrics listener and the end of its certificate. */
function webNotes({ tls, users }: WebSettings, nowMs: number): readonly Note[] {
  const transport = tls ? 'TLS' : 'plain HTTP';
  const clients = tls && tls.clientAuth !== 'NoClientCert' ? `, client_auth_type ${tls.clientAuth}` : '';
  const passwords = users.size === 0 ? 'no password' : `${users.size} ${users.size === 1 ? 'user' : 'users'}`;
  const protection = { text: `The web configuration is valid: ${transport}${clients}, ${passwords}.` };
  if (!tls) return [protection];
  return [protection, ownCertificateNote(tls.cert, 'Prometheus does', nowMs)];
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

/** Returns a note for each file with a key that every user of this machine can read. */
async function openKeyNotes(keyFiles: ReadonlySet<string>): Promise<readonly Note[]> {
  const notes: Note[] = [];
  for (const path of keyFiles) {
    const { mode } = await stat(path);
    if ((mode & readableByAll) !== 0)
      notes.push({
        text: `Every user of this machine can read the key in ${path}. Give it to the exporter alone: chmod 600 ${path}`,
        isWrong: true,
      });
  }
  return notes;
}
