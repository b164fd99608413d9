import { resolve } from 'node:path';
import { tryApiKey } from '../../app/connect-appliance.ts';
import { hasEnvironmentAppliance } from '../../config/environment.ts';
import { createFiles } from '../../config/files.ts';
import { loadSettings } from '../../app/load-settings.ts';
import { loadBoth } from '../../config/load.ts';
import { ConfigError } from '../../config/problems.ts';
import { type Settings, parseShard, settingsOfShard } from '../../config/settings.ts';
import { loadWebSettings } from '../../config/web-settings.ts';
import { HostResolver } from '../../lib/host-resolver.ts';
import { createSlots } from '../../lib/slots.ts';
import { plural } from '../../lib/text.ts';
import { type Command, type CommandContext, UsageError } from '../command.ts';
import { configurationFile } from '../configuration-file.ts';
import { readShownCertificate } from '../fingerprint.ts';
import { l4Probes, probeFarms } from './farm-probes.ts';
import { finding, type Finding, findingsOf } from './findings.ts';
import { createJsonReport } from './json-report.ts';
import {
  asRootNote,
  gatewayNotes,
  l4Notes,
  type Note,
  exposedKeyNote,
  receiverNotes,
  sharedAddressNotes,
  unusableNotes,
  variableNotes,
  webNotes,
} from './notes.ts';
import { apiAddressOf, type ApplianceCheck, probeAppliance, type ProbeOptions } from './probe.ts';
import { createTextReport, type CheckReport } from './report.ts';

/** Validates the configuration, probes each appliance read-only, and reports about each. */
export const check: Command = async (context) => {
  const { json, quiet } = context.flags;
  const report = json === true ? createJsonReport(context.shell) : createTextReport(context, quiet === true);
  try {
    const { code, result } = await checkAll(context, report);
    await report.end(code, result);
    return code;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    await report.refuse(error);
    return 2;
  }
};

/** The end of a check: the exit code, and the last line. */
interface CheckEnd {
  readonly code: number;
  readonly result?: Note;
}

async function checkAll(context: CommandContext, report: CheckReport): Promise<CheckEnd> {
  const { flags, env, stopped } = context;
  const webFile = flags['web.config.file'];
  const file = webFile === undefined ? configurationFile(context) : flags['config.file'];
  const hasAppliances = file !== undefined || hasEnvironmentAppliance(env);
  if (!hasAppliances && webFile === undefined)
    throw new UsageError('nothing to check: give --config.file=PATH, or set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE');
  const files = createFiles(file === undefined ? [] : [file]);
  const [whole, web] = await loadBoth(
    hasAppliances ? loadSettings({ file, env, files }) : Promise.resolve(undefined),
    webFile === undefined ? Promise.resolve(undefined) : loadWebSettings({ file: webFile, env, files }),
  );
  if (web) webNotes(web).forEach(report.note);
  files.exposedKeyFiles.map(exposedKeyNote).forEach(report.note);
  if ([file, webFile].some(isInstalled) && process.geteuid?.() === 0) report.note(asRootNote);
  if (!whole) return { code: 0 };

  const settings = settingsWithNotes(whole, context, report);
  const { appliances } = settings;
  if (flags.offline) {
    gatewayNotes(settings.admin).forEach(report.note);
    return { code: 0, result: { text: 'No appliance was asked.' } };
  }
  const resolver = new HostResolver();
  let unpolled = 0;
  let withFindings = 0;
  const checks: ApplianceCheck[] = [];
  const inSlot = createSlots(maxAtOnce);
  const probes = appliances.map((appliance) =>
    inSlot(stopped, () => probeWithFindings({ appliance, settings, resolver, stopped })),
  );
  // The loop below reports a rejection when it awaits the probe; until then, it is not unhandled.
  for (const each of probes) each.catch(() => undefined);
  for (const each of probes) {
    const probed = stopped.aborted ? undefined : await each;
    if (!probed || stopped.aborted) return failed('Stopped before all appliances were checked.');
    const { checked, findings } = probed;
    const ok = checked.probe.failure === undefined;
    if (!ok) unpolled += 1;
    if (ok && findings.length > 0) withFindings += 1;
    report.appliance(checked, findings);
    checks.push(checked);
  }
  l4Notes(checks).forEach(report.note);
  if (env.ZLB_APPLIANCE_URL && unpolled + withFindings > 0) variableNotes.forEach(report.note);
  gatewayNotes(settings.admin).forEach(report.note);
  receiverNotes(settings.requests).forEach(report.note);
  const unusable = await unusableNotes(settings);
  unusable.forEach(report.note);
  const all = plural(appliances.length, 'appliance');
  if (unpolled > 0) return failed(`${unpolled} of ${all} cannot be polled as configured.`);
  if (unusable.length > 0) return failed('Not all files of the exporter can be used.');
  const remark = withFindings > 0 ? `; ${withFindings} with something to fix` : '';
  return { code: 0, result: { text: `${all} can be polled as configured${remark}.` } };
}

function failed(text: string): CheckEnd {
  return { code: 1, result: { text, isWrong: true } };
}

/** Returns the settings of this shard, and notes what is allowed and probably a mistake. */
function settingsWithNotes(whole: Settings, { flags }: CommandContext, { note }: CheckReport): Settings {
  const settings = settingsOfShard(whole, flags.shard === undefined ? undefined : parseShard(flags.shard));
  const { shard, appliances } = settings;
  note({ text: `The configuration is valid: ${plural(whole.appliances.length, 'appliance')}.` });
  if (shard) note({ text: `Shard ${shard.index}/${shard.count} watches ${appliances.length} of them.` });
  sharedAddressNotes(whole.appliances).forEach(note);
  return settings;
}

function isInstalled(file: string | undefined): boolean {
  return file !== undefined && resolve(file).startsWith('/etc/zlb-exporter/');
}

/** A silent appliance must not delay all others. */
const maxAtOnce = 8;

async function probeWithFindings(options: ProbeOptions) {
  const checked = await probeWithCertificate(options);
  const ok = checked.probe.failure === undefined;
  return { checked, findings: [...findingsOf(checked), ...(ok ? await adminKeyFindings(options) : [])] };
}

async function probeWithCertificate(options: ProbeOptions): Promise<ApplianceCheck> {
  const { appliance, settings, resolver, stopped } = options;
  const probe = await probeAppliance(options);
  const address = apiAddressOf(appliance);
  const { host, port } = address;
  // A second connection would fail as the first one did, after the same wait.
  const unreachable = ['connect', 'timeout', 'cancelled'].includes(probe.failure?.reason ?? '');
  const shown = unreachable
    ? undefined
    : await readShownCertificate({ host, port, serverName: appliance.tls.serverName, resolver, signal: stopped }).catch(
        // The report then has no line about the certificate.
        () => undefined,
      );
  const { collectors, vip } = appliance;
  const farms = collectors.vip?.enabled === true && probe.failure === undefined ? probe.farms : undefined;
  const farmProbes = farms && !vip.l4Only ? await probeFarms(farms, vip, stopped) : undefined;
  const l4Only = farms && vip.l4Only ? l4Probes(farms, vip) : [];
  return { appliance, address, settings, probe, farmProbes, l4Only, shown, nowMs: Date.now() };
}

async function adminKeyFindings({ appliance, settings, resolver, stopped }: ProbeOptions): Promise<readonly Finding[]> {
  const { adminApiKey } = appliance;
  if (!settings.admin || !adminApiKey) return [];
  const refusal = await tryApiKey({ appliance: { ...appliance, apiKey: adminApiKey }, settings, resolver }, stopped);
  // A deactivated appliance checks the key before it refuses with 402.
  if (refusal === undefined || refusal.reason === 'unlicensed') return [];
  return [
    finding(
      `The key of the gateway (admin_api_key) does not work: ${refusal.message}.`,
      'Use the key of an enabled user with the right to change (System > Users), or leave it out:',
      'the gateway then uses api_key.',
    ),
  ];
}
