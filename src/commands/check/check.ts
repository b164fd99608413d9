import { createDecoder } from '../../appliance/decode.ts';
import { operationRoutes } from '../../admin/operation-routes.ts';
import { collectorDefaults } from '../../collectors/defaults.ts';
import { createFiles } from '../../config/files.ts';
import { loadSettings } from '../../config/load.ts';
import { shareOf } from '../../config/share.ts';
import { loadWebSettings } from '../../config/web-settings.ts';
import { counted } from '../../lib/counted.ts';
import { parseShard } from '../../lib/shard.ts';
import { type Command, optionalFlag, textFlag, UsageError } from '../command.ts';
import { readShownCertificate } from '../shown-certificate.ts';
import { addressOf, type Examination } from './examination.ts';
import { adminKeyIll, gatewayLines } from './gateway.ts';
import { illsOf } from './ills.ts';
import { noteKeyFiles, openKeyLines } from './key-files.ts';
import { letter, summaryLine } from './letter.ts';
import { visitAppliance, type VisitParts } from './visit.ts';
import { webLines } from './web.ts';

/** Validates the configuration, tries each appliance read-only, and writes a letter about each: one line that programs find, the details below it. */
export const check: Command = async ({ flags, env, stopped, say, warn, shell }) => {
  const file = optionalFlag(flags, 'config.file');
  const webFile = optionalFlag(flags, 'web.config.file');
  const hasAppliances = file !== undefined || Boolean(env.ZLB_APPLIANCE_URL);
  if (!hasAppliances && webFile === undefined)
    throw new UsageError('nothing to check: give --config.file=PATH, or set ZLB_APPLIANCE_URL and ZLB_API_KEY_FILE');
  if (webFile !== undefined)
    for (const line of webLines(await loadWebSettings({ file: webFile, env }), Date.now())) say(line);
  if (!hasAppliances) return 0;

  const files = noteKeyFiles(createFiles({ path: file }));
  const whole = await loadSettings({
    ...(file === undefined ? {} : { file }),
    env,
    collectorDefaults,
    operations: operationRoutes(),
    files,
  });
  const settings = shareOf(whole, parseShard(textFlag(flags, 'shard')));
  say(`The configuration is valid: ${counted(whole.appliances.length, 'appliance')}.`);
  const { share, appliances } = settings;
  if (share) say(`Shard ${share.index}/${share.count} watches ${appliances.length} of them.`);
  (await openKeyLines(files.keyFiles)).forEach(say);

  const decode = createDecoder();
  const width = Math.max(...appliances.map(({ name }) => name.length));
  let failed = 0;
  let ailing = 0;
  for (const appliance of appliances) {
    if (stopped.aborted) {
      warn('Stopped before all were tried.');
      return 1;
    }
    const examination = await examine({ appliance, settings, decode, stopped });
    const ok = examination.findings.failure === undefined;
    const ofGateway = ok ? await adminKeyIll(appliance, settings, decode, stopped) : undefined;
    const ills = [...illsOf(examination), ...(ofGateway ? [ofGateway] : [])];
    if (!ok) failed += 1;
    if (ok && ills.length > 0) ailing += 1;
    const verdict = ok ? shell.paint('green', 'ok    ') : shell.paint('red', 'FAILED');
    say(`${appliance.name.padEnd(width)}  ${verdict}  ${summaryLine(examination)}`);
    letter(examination, ills).forEach(say);
  }
  if (env.ZLB_APPLIANCE_URL && failed + ailing > 0) variableLines.forEach(say);
  for (const line of gatewayLines(settings.admin, Date.now())) say(line);
  if (failed > 0) {
    warn(`${failed} of ${counted(appliances.length, 'appliance')} cannot be polled as configured.`);
    return 1;
  }
  const remark = ailing > 0 ? `; ${ailing} with something to put right` : '';
  say(`${counted(appliances.length, 'appliance')} can be polled as configured${remark}.`);
  return 0;
};

/** Remedies are written as a file has them. */
const variableLines = [
  '',
  'The appliance is given by the environment: write url as ZLB_APPLIANCE_URL, api_key_file as ZLB_API_KEY_FILE',
  'and tls.fingerprint_sha256 as ZLB_TLS_FINGERPRINT_SHA256. Other keys want a file.',
] as const;

async function examine(parts: VisitParts): Promise<Examination> {
  const { appliance, settings, stopped } = parts;
  const findings = await visitAppliance(parts);
  const { host, port } = addressOf(appliance);
  // Who gave no connection just now gives none for this either, and it would only be waited for again.
  const silent = ['connect', 'timeout', 'cancelled'].includes(findings.failure?.reason ?? '');
  const shown = silent
    ? undefined
    : await readShownCertificate({ host, port, serverName: appliance.tls.serverName, signal: stopped }).catch(
        // What it has to say of the certificate is said without.
        () => undefined,
      );
  return { appliance, settings, findings, shown, nowMs: Date.now() };
}
