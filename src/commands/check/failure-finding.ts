import { knownBasePaths } from '../../appliance/route.ts';
import { dayOf } from '../../lib/time.ts';
import { ownFingerprintCommand } from '../fingerprint.ts';
import { type ApplianceCheck, type Failure } from './probe.ts';

/** A problem of an appliance or of its configuration, and what to do about it. */
export interface Finding {
  readonly text: string;
  /** Lines; a command or setting to copy is a line of its own, see {@link exact}. */
  readonly remedy: readonly string[];
}

export function finding(text: string, ...remedy: readonly string[]): Finding {
  return { text, remedy };
}

/** Returns the line of a command or a setting to copy. */
export function exact(text: string): string {
  return `    ${text}`;
}

/** Returns why an appliance cannot be polled, and what to do about it. */
export function failureFinding(failure: Failure, checked: ApplianceCheck): Finding {
  const { url, keyHeader } = checked.appliance;
  const { text } = checked.address;
  const basePaths = knownBasePaths.join(' and ');
  switch (failure.reason) {
    case 'connect':
      return connectFinding(failure, checked);
    case 'timeout':
      return finding(
        `${text} gave no answer in time.`,
        ...byHand(text),
        'If it connects and is slow, raise polling.timeout. If it hangs, a firewall drops the packets.',
      );
    case 'tls':
      return tlsFinding(failure, checked);
    case 'unauthorized':
      return finding(
        'The key is refused: it is mistyped, was replaced or expired, or its user is disabled.',
        'Make a key for an enabled API user (System > Users) and put it, alone, into api_key_file.',
        `It is sent as ${keyHeadersText(keyHeader)}; a proxy that drops such headers needs the other form:`,
        exact('key_header: ZAPI-KEY'),
      );
    case 'unproven':
      return finding(
        'Something answers, but not as the management API that accepts this key.',
        ...(url.pathname === '/'
          ? [
              `Check that ${text} is the web interface of the appliance, and that its release has the API v4.0.`,
              `These paths were tried: ${basePaths}.`,
            ]
          : [`Remove the path ${url.pathname} from url.`, `Without a path, ${basePaths} are tried.`]),
      );
    case 'forbidden':
      return finding(
        `The key may not read ${forbiddenIn(checked).join(', ')}. Without its farms, nothing is known of its services, and no alert on them can fire.`,
        'Give the user of the key a role that may read them, and a group that has its farms (System > Users).',
      );
    case 'unlicensed':
      return licenceFinding(checked);
    case 'farms_unread':
      return finding(
        `Its farms cannot be read, so nothing is known of its services: ${failure.message}.`,
        'Look at the log of the appliance for that call. If its release answers in an unknown way, report it',
        'with the release and the line above.',
      );
    case 'cancelled':
      return finding('The check was stopped before the end.', 'Run it again.');
  }
}

/** Returns the collectors that the key may not read. */
export function forbiddenIn({ probe }: Pick<ApplianceCheck, 'probe'>): readonly string[] {
  return probe.obstacles.filter(({ reason }) => reason === 'forbidden').map(({ collector }) => collector);
}

/** Says what a deactivated appliance needs, and what not to do before. */
function licenceFinding({ appliance, settings }: ApplianceCheck): Finding {
  const throughGateway = exact(`zlb-exporter admin ${appliance.name} install-activation file=PATH --reason=TEXT`);
  return finding(
    'It is deactivated: until a valid activation certificate is installed it answers 402 to nearly everything.',
    `Install one in its web interface${settings.admin ? ', or through the gateway:' : '.'}`,
    ...(settings.admin ? [throughGateway] : []),
    'Do not restart its farms before that: they may not start again. ZlbApplianceDeactivated fires until then.',
  );
}

export function keyHeadersText(keyHeader: string): string {
  return keyHeader === 'auto' ? 'ZAPI_KEY and API_KEY' : keyHeader;
}

/** Returns the setting that pins a fingerprint, and how to verify it first. */
export function pinLines(fingerprintSha256: string, port: number): readonly string[] {
  return [
    exact(`tls: { fingerprint_sha256: '${fingerprintSha256}' }`),
    'Do this only if a shell on the appliance itself prints the same fingerprint:',
    exact(ownFingerprintCommand(port)),
  ];
}

function byHand(address: string): readonly string[] {
  return ['Try it by hand from this machine:', exact(`curl -kv https://${address}/`)];
}

function connectFinding({ message }: Failure, { address: { host, text } }: ApplianceCheck): Finding {
  if (/\b(?:ENOTFOUND|EAI_AGAIN)\b/.test(message))
    return finding(
      `This machine finds no address for the name ${host}.`,
      'Check the host in url and the name server of this machine, or write the address itself:',
      'a pinned certificate does not depend on the name.',
    );
  if (/\b(?:ECONNRESET|EPIPE|closed|disconnected|hang up|mismatch)\b/.test(message))
    return finding(
      `${text} accepts the connection and closes it before the end of an answer.`,
      ...byHand(text),
      'If that fails too, the port may not be the port of the web interface (usually 444), or something',
      'in between ends connections: a firewall, a proxy, a list of addresses that may manage the appliance.',
    );
  return finding(
    `Nothing accepts connections on ${text}.`,
    ...byHand(text),
    'If that fails too, the host or port in url is wrong (the web interface is usually on 444),',
    'a firewall is in between, or the web server of the appliance does not run.',
  );
}

function tlsFinding({ message }: Failure, { appliance, address, shown, nowMs }: ApplianceCheck): Finding {
  if (!shown)
    return finding(
      `${address.text} does not speak TLS as expected.`,
      'Check that the port in url is that of the web interface (usually 444).',
    );
  const { fingerprintSha256: found, issuer, subject, endsAtMs } = shown;
  const pin = pinLines(found, address.port);
  if (appliance.tls.fingerprintSha256 !== undefined)
    return finding(
      `The certificate is not the pinned one: its fingerprint is ${found}.`,
      'If it was renewed, pin the new one:',
      ...pin,
      'If the fingerprints differ, somebody is in between. The key was not sent.',
    );
  if (endsAtMs < nowMs)
    return finding(
      `The certificate of the API expired on ${dayOf(endsAtMs)}.`,
      'Renew it on the appliance. To continue until then, pin it:',
      ...pin,
    );
  if (/altnames|does not match/i.test(message))
    return finding(
      `The certificate is for another name (${subject}).`,
      'If that is this appliance, expect a name that is in the certificate:',
      exact('tls: { server_name: NAME }'),
      'Or pin it:',
      ...pin,
    );
  return finding(
    `The certificate was issued by ${issuer === subject ? 'itself' : issuer}, which this machine does not trust.`,
    'Name the file of its authority in tls: { ca_file: PATH }, or pin it:',
    ...pin,
  );
}
