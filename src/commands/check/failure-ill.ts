import { knownBasePaths } from '../../appliance/base-paths.ts';
import { dayOf } from '../../lib/day.ts';
import { ownFingerprintCommand } from '../fingerprint.ts';
import { addressOf, type Examination } from './examination.ts';
import { exact, type Ill } from './ill.ts';
import type { Failure } from './visit.ts';

/** Why an appliance cannot be polled, and the exact thing to do. */
export function failureIll(failure: Failure, examination: Examination): Ill {
  const { appliance } = examination;
  const { text } = addressOf(appliance);
  const byHand = ['Try it by hand from this machine:', exact(`curl -kv https://${text}/`)];
  switch (failure.reason) {
    case 'connect':
      return connectIll(failure, examination, byHand);
    case 'timeout':
      return {
        finding: `${text} gave no answer in time.`,
        remedy: [
          ...byHand,
          'If it connects and is slow, raise polling.timeout. If it hangs, a firewall drops what is sent there.',
        ],
      };
    case 'tls':
      return tlsIll(failure, examination);
    case 'unauthorized':
      return {
        finding: 'The key is refused: it is mistyped, was replaced or expired, or its user is disabled.',
        remedy: [
          'Make a key for an enabled API user (System > Users) and put it, alone, into api_key_file.',
          `It is sent as ${keyHeadersText(appliance.keyHeader)}; a proxy that drops such headers needs the other form:`,
          exact('key_header: ZAPI-KEY'),
        ],
      };
    case 'unproven':
      return {
        finding: 'Something answers, but nothing of it shows that it is the management API and takes the key.',
        remedy:
          appliance.url.pathname === '/'
            ? [
                `Check that ${text} is the web interface of the appliance, and that its release has the API v4.0.`,
                `Asked for were ${knownBasePaths.join(' and ')}.`,
              ]
            : [
                `Take the path ${appliance.url.pathname} out of url.`,
                `Without one ${knownBasePaths.join(' and ')} are tried.`,
              ],
      };
    case 'cancelled':
      return { finding: 'The check was stopped before this was known.', remedy: ['Run it again.'] };
  }
}

export function keyHeadersText(keyHeader: string): string {
  return keyHeader === 'auto' ? 'ZAPI_KEY and API_KEY' : keyHeader;
}

/** The lines that lead from a fingerprint that was seen to one that is trusted. */
export function pinLines(fingerprintSha256: string, port: number): readonly string[] {
  return [
    exact(`tls: { fingerprint_sha256: '${fingerprintSha256}' }`),
    'But only if the appliance says the same in a shell of its own:',
    exact(ownFingerprintCommand(port)),
  ];
}

function connectIll({ message }: Failure, { appliance }: Examination, byHand: readonly string[]): Ill {
  const { host, text } = addressOf(appliance);
  if (/\b(?:ENOTFOUND|EAI_AGAIN)\b/.test(message))
    return {
      finding: `The name ${host} leads to no address from this machine.`,
      remedy: [
        'Check the host in url and the name server of this machine, or write the address itself:',
        'a pinned certificate does not depend on the name.',
      ],
    };
  if (/\b(?:ECONNRESET|EPIPE|closed|disconnected|hang up|mismatch)\b/.test(message))
    return {
      finding: `${text} takes the connection and closes it before an answer is whole.`,
      remedy: [
        ...byHand,
        'If that fails too, this port may not be that of the web interface (usually 444), or something',
        'in between ends connections: a firewall, a proxy, a list of addresses that may manage the appliance.',
      ],
    };
  return {
    finding: `Nobody takes connections on ${text}.`,
    remedy: [
      ...byHand,
      'If that fails too, the host or port in url is wrong (the web interface is usually on 444),',
      'a firewall is in between, or the web server of the appliance does not run.',
    ],
  };
}

function tlsIll({ message }: Failure, { appliance, shown, nowMs }: Examination): Ill {
  const { port, text } = addressOf(appliance);
  if (!shown)
    return {
      finding: `${text} does not speak TLS as expected.`,
      remedy: ['Check that the port in url is that of the web interface (usually 444).'],
    };
  const { fingerprintSha256: found, issuer, subject, endsAtMs } = shown;
  const pin = pinLines(found, port);
  if (appliance.tls.fingerprintSha256 !== undefined)
    return {
      finding: `The certificate is another than the pinned one: the fingerprint found is ${found}.`,
      remedy: [
        'If it was renewed, pin the new one:',
        ...pin,
        'If it says something else, somebody is in between. The key was not sent.',
      ],
    };
  if (endsAtMs < nowMs)
    return {
      finding: `The certificate of the API expired on ${dayOf(endsAtMs)}.`,
      remedy: ['Renew it on the appliance. To go on until then, pin it:', ...pin],
    };
  if (/altnames|does not match/i.test(message))
    return {
      finding: `The certificate is for another name (${subject}).`,
      remedy: [
        'If that is this appliance, expect a name that is in the certificate:',
        exact('tls: { server_name: NAME }'),
        'Or pin it:',
        ...pin,
      ],
    };
  return {
    finding: `The certificate was issued by ${issuer === subject ? 'itself' : issuer}, which this machine does not trust.`,
    remedy: ['Give its authority as tls: { ca_file: PATH }, or pin it:', ...pin],
  };
}
