import type { ApplianceClient } from '../appliance/client.ts';
import { createDecoder, type Decode } from '../appliance/decode.ts';
import { operationRoutes } from '../appliance/operation-routes.ts';
import { ApplianceError } from '../appliance/errors.ts';
import { type CollectContext, type Collector, type Facts, isFarmCollector, noFacts } from '../collectors/collector.ts';
import { collectorDefaults } from '../collectors/defaults.ts';
import { collectors } from '../collectors/registry.ts';
import { loadSettings } from '../config/load.ts';
import { shareOf } from '../config/share.ts';
import { loadWebSettings } from '../config/web-settings.ts';
import { watchesFarm } from '../config/farm-filter.ts';
import type { ApplianceSettings, Settings } from '../config/settings.ts';
import { connectAppliance } from '../connect-appliance.ts';
import { toError } from '../lib/check.ts';
import { oneLine } from '../lib/one-line.ts';
import { parseShard } from '../lib/shard.ts';
import { intervalOf } from '../monitor/clockwork.ts';
import { adminKeyRemark, gatewayLines } from './check-gateway.ts';
import { webLines } from './check-web.ts';
import { type Command, textFlag, UsageError } from './command.ts';

/** Validates the configuration and tries each appliance read-only; one line each, what is wrong with it below. */
export const check: Command = async ({ flags, env, stopped, say, warn }) => {
  const file = flags['config.file'];
  const webFile = flags['web.config.file'];
  const hasAppliances = typeof file === 'string' || Boolean(env.ZLB_APPLIANCE_URL);
  if (!hasAppliances && typeof webFile !== 'string') {
    throw new UsageError('nothing to check: give --config.file=PATH, or ZLB_APPLIANCE_URL and ZLB_API_KEY');
  }
  if (typeof webFile === 'string')
    for (const line of webLines(await loadWebSettings({ file: webFile, env }), Date.now())) say(line);
  if (!hasAppliances) return 0;
  const whole = await loadSettings({
    ...(typeof file === 'string' ? { file } : {}),
    env,
    collectorDefaults,
    operations: operationRoutes(),
  });
  const settings = shareOf(whole, parseShard(textFlag(flags, 'shard')));
  const count = whole.appliances.length;
  say(`The configuration is valid: ${count} appliance${count === 1 ? '' : 's'}.`);
  const { share } = settings;
  if (share) say(`Shard ${share.index}/${share.count} watches ${settings.appliances.length} of them.`);
  const decode = createDecoder();
  const width = Math.max(...settings.appliances.map(({ name }) => name.length));
  let failed = 0;
  for (const appliance of settings.appliances) {
    const visit = await visitAppliance(appliance, settings, decode, stopped);
    if (!visit.ok) failed += 1;
    say(`${appliance.name.padEnd(width)}  ${visit.ok ? 'ok    ' : 'FAILED'}  ${visit.line}`);
    const ofGateway = visit.ok ? await adminKeyRemark(appliance, settings, decode, stopped) : undefined;
    for (const remark of [...visit.remarks, ...(ofGateway === undefined ? [] : [ofGateway])])
      say(`${' '.repeat(width)}          ${remark}`);
  }
  for (const line of gatewayLines(settings.admin, Date.now())) say(line);
  if (failed > 0) warn(`${failed} of ${settings.appliances.length} appliances cannot be polled as configured.`);
  return failed > 0 ? 1 : 0;
};

interface Visit {
  readonly ok: boolean;
  readonly line: string;
  readonly remarks: readonly string[];
}

/** Makes each enabled collector's calls once, those per farm for one farm, and adds up what a minute of polling will cost. */
async function visitAppliance(
  appliance: ApplianceSettings,
  settings: Settings,
  decode: Decode,
  stopped: AbortSignal,
): Promise<Visit> {
  const meter = { calls: 0, seconds: 0 };
  const client = connectAppliance({
    appliance,
    settings,
    decode,
    now: Date.now,
    onCall({ seconds }) {
      meter.calls += 1;
      meter.seconds += seconds;
    },
  });
  const facts = noFacts();
  const remarks: string[] = [];
  const perMinute = { calls: 0, seconds: 0 };
  let polled = 0;
  try {
    for (const collector of collectors) {
      const chosen = appliance.collectors[collector.name];
      if (!chosen?.enabled) continue;
      const before = { ...meter };
      try {
        const times = await tryCollector(collector, contextOf(client, appliance, facts, stopped));
        const share = (60_000 / intervalOf(chosen.schedule)) * times;
        perMinute.calls += (meter.calls - before.calls) * share;
        perMinute.seconds += (meter.seconds - before.seconds) * share;
        polled += 1;
      } catch (error) {
        const verdict = judge(collector, toError(error));
        if (verdict.fatal) return { ok: false, line: verdict.text, remarks };
        if (verdict.text !== '') remarks.push(verdict.text);
      }
    }
  } finally {
    await client.close();
  }
  const trust = appliance.tls.fingerprintSha256
    ? 'certificate pinned'
    : appliance.tls.insecureSkipVerify
      ? 'TLS NOT VERIFIED'
      : 'TLS verified';
  const product = [facts.edition ?? 'edition unknown', facts.version ?? 'release unknown']
    .map((text) => oneLine(text, 64))
    .join(' ');
  const farms = facts.farms ? `${facts.farms.length} ${facts.farms.length === 1 ? 'farm' : 'farms'}` : 'farms unknown';
  const cost = `${polled} collectors, about ${Math.ceil(perMinute.calls)} calls and ${perMinute.seconds.toFixed(1)} s of its time a minute`;
  if (facts.licensed === false)
    remarks.push(
      'It is deactivated: it answers 402 to nearly everything until a valid activation certificate is installed.',
    );
  if (perMinute.seconds / 60 > settings.polling.maxBusyRatio)
    remarks.push('That is more than polling.max_busy_ratio allows, so intervals will be stretched.');
  return { ok: true, line: [`reachable, ${trust}, key accepted`, product, farms, cost].join(' · '), remarks };
}

/** Resolves to how many times a run repeats what was just asked. */
async function tryCollector(
  collector: Collector,
  context: CollectContext & { readonly facts: Facts },
): Promise<number> {
  if (!isFarmCollector(collector)) {
    const reading = await collector.collect(context);
    Object.assign(context.facts, reading.facts);
    return 1;
  }
  const farms = (context.facts.farms ?? []).filter((farm) => collector.covers(farm));
  const [first] = farms;
  if (first) await (await collector.begin(context))(first, context);
  return farms.length;
}

function contextOf(
  client: ApplianceClient,
  appliance: ApplianceSettings,
  facts: Facts,
  signal: AbortSignal,
): CollectContext & { readonly facts: Facts } {
  return {
    read: (key, params) => client.read(key, params, signal),
    facts,
    watches: (farm) => watchesFarm(appliance, farm),
    now: Date.now,
    labels: appliance.labels,
    compact: appliance.compact,
  };
}

function judge(collector: Collector, error: Error): { readonly fatal: boolean; readonly text: string } {
  if (!(error instanceof ApplianceError))
    return { fatal: false, text: `${collector.name}: ${oneLine(error.message, 250)}` };
  switch (error.reason) {
    case 'connect':
    case 'timeout':
    case 'tls':
    case 'cancelled':
      return { fatal: true, text: error.message };
    case 'unauthorized':
      return {
        fatal: true,
        text: `reachable, but the key is refused (${error.message}); check api_key_file and that the API user is enabled`,
      };
    case 'not_found':
      // What an edition lacks is left out without a word; a page of the web server means that the API is elsewhere.
      return error.routeMissing
        ? { fatal: false, text: '' }
        : { fatal: true, text: `${error.message}; check the path of url` };
    case 'unlicensed':
      return { fatal: false, text: '' };
    case 'forbidden':
      return {
        fatal: false,
        text: `${collector.name}: the key may not read this; add the right to its role, or disable the collector (${error.message})`,
      };
    case 'bad_request':
    case 'method_not_allowed':
    case 'unavailable':
    case 'conflict':
    case 'gone':
    case 'server_error':
    case 'gateway_timeout':
    case 'malformed':
    case 'oversize':
      return { fatal: false, text: `${collector.name}: ${error.message}` };
  }
}
