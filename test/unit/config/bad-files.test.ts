import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { furtherChecks, loadSettings, wholeRefusal } from './given-config.ts';

const folder = fileURLToPath(new URL('bad/', import.meta.url));

const emptyFile = (name: string) =>
  `: is empty; list at least one appliance in it (docs/configuration.md), or let zlb-exporter init HOST --config.file=${folder}${name} --append do it`;

/** The expected messages for each file in bad/; a file that is not here fails. */
const expected: Readonly<Record<string, readonly string[]>> = {
  'admin-empty.yml': [
    ':2:8: admin.tokens: is missing; add it, such as [{"name":"alice","sha256":"65bdf14c…","role":"operator"}]',
  ],
  'admin-rules.yml': [
    ':2:76: appliances[0].admin_api_key_file: contains no key; put the API key of the appliance into it',
    `:3:76: appliances[1].admin_api_key_file: cannot be read: there is no such file; a relative path starts at ${resolve(folder)}. Give the path of a file the exporter may read, best an absolute one`,
    ':5:21: admin.tls.cert_file: certificate 1 of 1 in it is damaged; export it again',
    ':5:50: admin.tls.key_file: the private key in it is damaged; export it again',
    ':5:85: admin.tls.client_ca_file: contains no PEM certificate; it needs a part from "-----BEGIN CERTIFICATE-----" to "-----END CERTIFICATE-----"',
  ],
  'admin-tokens-rules.yml': [
    ':4:19: admin.listen_address: lets other machines connect, and without TLS tokens would cross the network in clear text; add admin.tls with cert_file and key_file, or set admin.insecure_plaintext to true where something else encrypts them',
    ':7:15: admin.tokens[1].name: duplicates the name of admin.tokens[0]; give each token its own, the audit tells callers apart by it',
    ':7:125: admin.tokens[1].appliances[0]: names an appliance that is not configured; did you mean "lb-paris"?',
    ':7:134: admin.tokens[1].appliances[1]: names an appliance that is not configured; write one of those in appliances, or a pattern such as lb-*',
    ':8:44: admin.tokens[2].sha256: duplicates the digest of admin.tokens[1]; make a token of its own with `zlb-exporter token`',
    ':9:119: admin.tokens[3].deny[0]: is not an operation; write the key of one such as readFarm, a route such as PUT /farms/{farmname}/actions, or a pattern such as *Backend*',
    ':9:127: admin.tokens[3].deny[1]: is not an operation; did you mean "readFarm"?',
    ':9:137: admin.tokens[3].deny[2]: is not an operation; did you mean "PUT /farms/{farmname}/actions"?',
    ':9:170: admin.tokens[3].deny[3]: is not an operation; write the key of one such as readFarm, a route such as PUT /farms/{farmname}/actions, or a pattern such as *Backend*',
  ],
  'admin-tokens.yml': [
    ':6:28: admin.tokens[0].role: must be one of viewer, operator, admin, alertmanager',
    ':6:42: admin.tokens[0].sha256: must be the SHA-256 of the token, 64 hex digits; `zlb-exporter token` prints both',
    ':6:63: admin.tokens[0].expires: must be a date such as 2027-01-01 (its start in UTC), or a time with its zone such as 2027-01-01T18:00:00+01:00; omit the key for a token that does not expire',
    ':6:89: admin.tokens[0].skip_confirmation: must be true or false, got "yes"',
    ':6:102: admin.tokens[0].guards: must be one of refuse, warn',
    ':8:15: admin.tokens[2].name: must be 1 to 64 characters: letters, digits and . _ @ -',
    ':8:124: admin.tokens[2].appliances: is an empty list; write one, such as ["lb-*"], or remove the key for ["*"]',
    ':9:7: admin.tokens[3].name: is missing; add it, such as alice',
    ':9:33: admin.tokens[3].sha256: the environment variable in it is not set; set it for the exporter, or write $$ for a plain dollar',
    ':9:59: admin.tokens[3].expires: is a date or time that does not exist',
    ':9:78: admin.tokens[3].allow: is an empty list; write one, such as ["readFarm","PUT /farms/{farmname}/actions","*Backend*"]',
    ':9:152: admin.tokens[3].deny[4]: is empty; write a name or a pattern, or take it out of the list',
    ':10:7: admin.tokens[4].sha256: is missing; add it, such as 65bdf14c…',
    ':10:7: admin.tokens[4].role: is missing; add it, such as operator',
    ':10:22: admin.tokens[4].token: unknown key; the keys here are name, sha256, role, appliances, expires, allow, deny, skip_confirmation, guards, person, approver, break_glass',
    ':10:37: admin.tokens[4][?]: unknown key; the keys here are name, sha256, role, appliances, expires, allow, deny, skip_confirmation, guards, person, approver, break_glass',
    ':10:108: admin.tokens[4].appliances: must be a list, such as ["lb-*"]',
    ':10:127: admin.tokens[4].expires: must be a date such as 2027-01-01 (its start in UTC), or a time with its zone such as 2027-01-01T18:00:00+01:00; omit the key for a token that does not expire',
    ':11:7: admin.tokens[5]: must be a mapping of keys and values, such as {"name":"alice","sha256":"65bdf14c…","role":"operator"}',
  ],
  'admin.yml': [
    ':2:57: appliances[0].admin_api_key: contradicts admin_api_key_file; remove one of the two',
    ':3:71: appliances[1].admin_api_key: cannot be sent in an HTTP header: character 7 of 18 is a space, a line break or not ASCII; copy the key again, alone',
    ':6:5: appliances[4]: must be a mapping of keys and values, such as {"name":"lb-paris","url":"https://192.0.2.10:444","api_key_file":"/run/secrets/lb-paris"}',
    ':8:19: admin.listen_address: must be HOST:PORT such as 127.0.0.1:9445, an IPv6 host in brackets: [::1]:9445',
    ':9:23: admin.insecure_plaintext: must be true or false, got "yes"',
    ':10:8: admin.tls.key_file: is missing; add it, such as /run/secrets/admin.key',
    ':11:17: admin.journal_file: is empty; give it a value, such as /var/lib/zlb-exporter/journal.db',
    ':12:12: admin.timeout: must be more than 0s and at most 1h, got "2h"',
    ':13:19: admin.download_bytes: must be at least 64KiB, got "63KiB"',
    ':14:11: admin.tokens: is an empty list; write one, such as [{"name":"alice","sha256":"65bdf14c…","role":"operator"}]',
    ':15:3: admin.token: unknown key; did you mean "tokens"?',
  ],
  'alias-bomb.yml': [': its aliases (*name) or merges (<<) cannot be resolved; write out what they repeat'],
  'api-keys.yml': [
    ':2:42: appliances[0].api_key: contains no key; put the API key of the appliance into it',
    ':3:42: appliances[1].api_key: cannot be sent in an HTTP header: character 7 of 18 is a space, a line break or not ASCII; copy the key again, alone',
    ':4:42: appliances[2].api_key: cannot be sent in an HTTP header: character 7 of 20 is a space, a line break or not ASCII; copy the key again, alone',
    ':5:42: appliances[3].api_key: cannot be sent in an HTTP header: character 7 of 7 is a space, a line break or not ASCII; copy the key again, alone',
    ':6:33: appliances[4].api_key: contradicts api_key_file; remove one of the two',
    ':7:47: appliances[5].api_key_file: is empty; give it a value, such as /run/secrets/lb-paris',
  ],
  'appliances-missing.yml': [
    ':1:1: appliances: lists no appliance; write one, such as [{"name":"lb-paris","url":"https://192.0.2.10:444","api_key_file":"/run/secrets/lb-paris"}]',
  ],
  'circular-alias.yml': [': its aliases (*name) or merges (<<) cannot be resolved; write out what they repeat'],
  'colon-in-value.yml': [
    ':4:14: there is a second ": " on this line, or a line below is indented too far; put a value that contains ": " in quotes',
  ],
  'empty-values.yml': [
    ':4:13: appliances[0].api_key: has no value; give it one, or remove the key',
    ':5:9: appliances[0].tls: has no value; give it one, or remove the key',
    ':6:21: appliances[0].labels.site: has no value; give it one, or remove the key',
    ':7:4: appliances[1]: has no value; give it one, or remove the key',
    ':8:12: collectors: has no value; give it one, or remove the key',
    ':9:10: polling: has no value; give it one, or remove the key',
  ],
  'empty.yml': [emptyFile('empty.yml')],
  'farms.yml': [
    ':6:17: appliances[0].farms.include[0]: is not a regular expression of RE2, which has no look-around, no back-references and no \\Z; for every name that starts with web-, write "web-.*"',
    ':6:26: appliances[0].farms.include[1]: is not a regular expression of RE2, which has no look-around, no back-references and no \\Z; for every name that starts with web-, write "web-.*"',
    ':7:17: appliances[0].farms.exclude[0]: is not a regular expression of RE2, which has no look-around, no back-references and no \\Z; for every name that starts with web-, write "web-.*"',
    ':7:22: appliances[0].farms.exclude[1]: is not a regular expression of RE2, which has no look-around, no back-references and no \\Z; for every name that starts with web-, write "web-.*"',
    ':8:70: appliances[1].farms.include: is an empty list; write one, such as ["web-.*"], or remove the key for [".*"]',
  ],
  'history.yml': [':6:18: history.file: is the same file as admin.journal_file; name another one'],
  'indentation.yml': [
    ':2:11: there is a second ": " on this line, or a line below is indented too far; put a value that contains ": " in quotes',
    ':4:1: something is missing here or above: a ":" after a key, a comma, or a closing quote or bracket',
  ],
  'key-files.yml': [
    ':2:47: appliances[0].api_key_file: contains no key; put the API key of the appliance into it',
    ':3:47: appliances[1].api_key_file: cannot be sent in an HTTP header: character 7 of 29 is a space, a line break or not ASCII; copy the key again, alone',
    `:4:47: appliances[2].api_key_file: cannot be read: there is no such file; a relative path starts at ${resolve(folder)}. Give the path of a file the exporter may read, best an absolute one`,
    ':5:47: appliances[3].api_key_file: cannot be read: it is a folder, not a file. Give the path of a file the exporter may read, best an absolute one',
    ':6:47: appliances[4].api_key_file: cannot be read: a part of its path is a file, not a folder. Give the path of a file the exporter may read, best an absolute one',
    ':7:47: appliances[5].api_key_file: cannot be read: there is no such file; systemd puts it there for the service and for zlb-exporter-check, if install.sh found it in /etc/zlb-exporter/keys. Give the path of a file the exporter may read, best an absolute one',
  ],
  'labels.yml': [
    ':5:28: appliances[0].labels.appliance: is a label of the metrics or alerts of zlb-exporter; Prometheus would rename that one to exported_appliance, and alerts would not fire; choose another name, such as appliance_appliance',
    ':5:42: appliances[0].labels.status: is a label of the metrics or alerts of zlb-exporter; Prometheus would rename that one to exported_status, and alerts would not fire; choose another name, such as appliance_status',
    ':5:53: appliances[0].labels.__meta: is not a valid label name; use letters, digits and _, and do not begin with a digit or __',
    ':5:64: appliances[0].labels.9th: is not a valid label name; use letters, digits and _, and do not begin with a digit or __',
    ':5:72: appliances[0].labels.rack-row: is not a valid label name; use letters, digits and _, and do not begin with a digit or __',
    ':5:85: appliances[0].labels[?]: is not a valid label name; use letters, digits and _, and do not begin with a digit or __',
    ':9:21: appliances[1].labels.site: must be a single value',
  ],
  'list.yml': [
    ':1:1: must be a mapping of keys and values, such as {"appliances":[{"name":"lb-paris","url":"https://192.0.2.10:444","api_key_file":"/run/secrets/lb-paris"}]}',
  ],
  'max-stale.yml': [
    ':6:26: appliances[0].collectors.farms.schedule: readings would be stale between polls: "0 */5 * * * *" polls up to 5m30s apart, max_stale is 3m; set max_stale to more than that, such as 15m for three polls',
    ':7:29: appliances[0].collectors.summary.max_stale: readings would be stale between polls: "0 * * * * *" polls up to 1m6s apart, max_stale is 1m; set max_stale to more than that, such as 3m for three polls',
    ':12:54: collectors.backends.max_stale: readings would be stale between polls: "0 */10 * * * *" polls up to 11m apart, max_stale is 10m; set max_stale to more than that, such as 30m for three polls',
    ':14:24: collectors.backups.schedule: readings would be stale between polls: "0 0 3 1,15 * 1" polls up to 413d10m apart, max_stale is 2h; both its day of month and its day of week must match, while a crontab needs only one of them; write only one: "0 0 3 1,15 * *" with max_stale 51d, or "0 0 3 * * 1" with max_stale 21d',
    ':15:25: collectors.packages.schedule: readings would be stale between polls: "0 0 0 1 1 *" polls up to 366d10m apart, max_stale is 2h; poll more often, since max_stale can be 365d at most',
  ],
  'merged-text.yml': [': its aliases (*name) or merges (<<) cannot be resolved; write out what they repeat'],
  'missing-keys.yml': [
    ':2:5: appliances[0].api_key: is missing; add it, or better api_key_file with the path of a file that holds the key',
    ':2:5: appliances[0].name: is missing; add it, such as lb-paris',
    ':2:5: appliances[0].url: is missing; add it, such as https://192.0.2.10:444',
    ':3:5: appliances[1].url: is missing; add it, such as https://192.0.2.10:444',
    ':5:5: appliances[2].name: is missing; add it, such as lb-paris',
  ],
  'names-repeated.yml': [':3:13: appliances[1].name: duplicates appliances[0]; names must be unique'],
  'names.yml': [
    ':4:13: appliances[2].name: must be 1 to 128 characters without line breaks or other control characters',
    ':5:13: appliances[3].name: must be 1 to 128 characters without line breaks or other control characters',
  ],
  'no-appliances.yml': [
    ':1:13: appliances: lists no appliance; write one, such as [{"name":"lb-paris","url":"https://192.0.2.10:444","api_key_file":"/run/secrets/lb-paris"}]',
  ],
  'only-comments.yml': [emptyFile('only-comments.yml')],
  'plain-text.yml': [
    ':1:1: must be a mapping of keys and values, such as {"appliances":[{"name":"lb-paris","url":"https://192.0.2.10:444","api_key_file":"/run/secrets/lb-paris"}]}',
  ],
  'polling-and-limits.yml': [
    ':3:21: polling.timeout: must be more than 0s and at most 10m, got "0s"',
    ':3:55: polling.max_concurrent_per_appliance: must be from 1 to 4, got "5"',
    ':3:74: polling.max_busy_ratio: must be more than 0 and at most 1, got "0"',
    ':3:85: polling.jitter: must be at least 0% and at most 50%, got "60%"',
    ':4:33: limits.series_per_appliance: must be at least 100, got "99"',
    ':4:49: limits.body_bytes: must be at least 64KiB and at most 1GiB, got "1KiB"',
  ],
  'polling-budgets.yml': [
    ':5:23: polling.routine_busy_ratio: must not exceed polling.max_busy_ratio, which bounds all readings',
  ],
  'polling-kinds.yml': [
    ':3:21: polling.timeout: must be a duration such as 20s or 1m30s, got "5 secs"',
    ':3:59: polling.max_concurrent_per_appliance: must be a whole number from 1 to 4, got "1.5"',
    ':3:80: polling.max_busy_ratio: must be a share such as 10% or 0.1, got "a quarter"',
    ':3:99: polling.jitter: must be a share such as 10% or 0.1, got "-1%"',
    ':4:33: limits.series_per_appliance: must be a whole number at least 100, got "all"',
    ':4:50: limits.body_bytes: must be a size such as 8MiB, got "8388608"',
  ],
  'repeated-keys.yml': [
    ':5:5: this key appears twice in the same mapping; remove one of the two',
    ':6:28: this key appears twice in the same mapping; remove one of the two',
    ':7:1: pooling: unknown key; did you mean "polling"?',
  ],
  'requests-off.yml': [
    ':2:64: appliances[0].requests: has no effect; add a block requests with listen_tcp or listen_udp',
  ],
  'requests-rules.yml': [
    ':3:73: appliances[0].requests.from[0]: duplicates a sender of b; set requests.from so that each sender belongs to one appliance',
    ':4:73: appliances[1].requests.from[0]: duplicates a sender of a; set requests.from so that each sender belongs to one appliance',
    ':4:141: appliances[1].requests.objectives[1].farm: already has an objective; merge the two',
    ':4:170: appliances[1].requests.objectives[2]: sets no target; add availability or latency',
    ':5:21: appliances[2].url: duplicates a sender of d; set requests.from so that each sender belongs to one appliance',
  ],
  'requests-silent.yml': [':1:11: requests: receives nothing; add listen_tcp or listen_udp'],
  'requests.yml': [
    ':1:25: requests.listen_tcp: must be HOST:PORT such as 127.0.0.1:9445, an IPv6 host in brackets: [::1]:9445',
    ':1:48: requests.buckets[1]: must be a duration such as 20s or 1m30s, got "fast"',
    ':3:73: appliances[0].requests.from[0]: must be a network such as 192.0.2.0/24 or 2001:db8::/64, or an IP address',
    ':4:123: appliances[1].requests.objectives[1].availability: must be at least 50% and at most 99.999%, got "100%"',
    ':4:138: appliances[1].requests.objectives[1].latency: must be a time and a share from 50% to less than 100%, such as 300ms for 99%',
  ],
  'reserved-character.yml': [
    ':4:14: a value cannot start with this character; put it in quotes',
    ':7:14: a value cannot start with this character; put it in quotes',
  ],
  'schedules.yml': [
    ':6:26: appliances[0].collectors.farms.schedule: must have six fields: second, minute, hour, day of month, month, day of week. Put the second first: "0 */5 * * * *"',
    ':7:28: appliances[0].collectors.summary.schedule: must have six fields: second, minute, hour, day of month, month, day of week, such as "*/30 * * * * *" for every 30 seconds',
    ':8:29: appliances[0].collectors.backends.schedule: must have six fields: second, minute, hour, day of month, month, day of week, such as "*/30 * * * * *" for every 30 seconds',
    ':10:23: collectors.system.schedule: "99" cannot be its second, "25" cannot be its hour',
    ':11:27: collectors.interfaces.schedule: no month of "2" has a day "30"',
    ':12:26: collectors.appliance.schedule: contains a character that has no meaning in a schedule; use digits and * , - /',
    ':13:26: collectors.backends.max_stale: must be more than 0s and at most 365d, got "0s"',
    ':14:26: collectors.packages.max_stale: must be a duration such as 20s or 1m30s, got "3 minutes"',
    ':15:24: collectors.backups.schedule: no month of "4,6" has a day "31"',
    ':16:20: collectors.vpn.schedule: "*/61" steps by 61 in its minute, whose highest value is 59; write the single value that it stands for',
    ':17:24: collectors.cluster.schedule: never runs: no date matches its day of month, its month and its day of week',
    ':18:28: collectors.farm_config.schedule: never runs: no date matches its day of month, its month and its day of week',
  ],
  'tab.yml': [':2:1: a tab cannot indent YAML; use spaces'],
  'tag.yml': [':2:43', ':3:44', ':4:13'].map(
    (place) => `${place}: tags (!name) have no meaning here; remove it, or put a value that starts with ! in quotes`,
  ),
  'tls-rules.yml': [
    `:2:66: appliances[0].tls.ca_file: cannot be read: there is no such file; a relative path starts at ${resolve(folder)}. Give the path of a file the exporter may read, best an absolute one`,
    ':3:66: appliances[1].tls.ca_file: contains no PEM certificate; it needs a part from "-----BEGIN CERTIFICATE-----" to "-----END CERTIFICATE-----"',
    ':4:66: appliances[2].tls.ca_file: certificate 1 of 1 in it is damaged; export it again',
    ':10:29: appliances[3].tls.insecure_skip_verify: contradicts appliances[3].tls.fingerprint_sha256; remove this one, the fingerprint alone makes a self-signed certificate safe',
  ],
  'tls.yml': [
    ':2:77: appliances[0].tls.fingerprint_sha256: must be 64 hex digits, with or without colons; `zlb-exporter fingerprint HOST:PORT` prints it',
    ':3:70: appliances[1].tls.server_name: must be the host name in the certificate, such as lb.example.org, without a port or path; an IP address is not accepted',
    ':4:70: appliances[2].tls.server_name: must be the host name in the certificate, such as lb.example.org, without a port or path; an IP address is not accepted',
    ':5:79: appliances[3].tls.insecure_skip_verify: must be true or false, got "yes"',
  ],
  'twins-kinds.yml': [
    ':3:9: twins[0]: must be a list, such as ["lb-paris-1","lb-paris-2"]',
    ':3:22: twins[1][0]: must be a single value',
  ],
  'twins.yml': [
    ':5:5: twins[0]: must be a pair of names, such as ["lb-paris-1","lb-paris-2"]',
    ':6:6: twins[1][0]: is already in another pair; list each appliance once',
    ':7:5: twins[2]: must be a pair of names, such as ["lb-paris-1","lb-paris-2"]',
    ':7:6: twins[2][0]: names an appliance that is not configured; did you mean "lb-paris-2"?',
    ':7:17: twins[2][1]: names an appliance that is not configured; write one of those in appliances',
    ':7:26: twins[2][2]: names an appliance that is not configured; write one of those in appliances',
    ':8:5: twins[3]: must be a pair of names, such as ["lb-paris-1","lb-paris-2"]',
  ],
  'two-documents.yml': [
    ':3:1: a second document starts here; remove the "---" line: all settings belong in one document',
  ],
  'unclosed-quote.yml': [
    ':4:1: something is missing here or above: a ":" after a key, a comma, or a closing quote or bracket',
  ],
  'unknown-alias.yml': [':4:14: no anchor (&name) above has this name; put a value that starts with * in quotes'],
  'unknown-keys.yml': [
    ':4:5: appliances[0].api_key_fiel: unknown key; did you mean "api_key_file"?',
    ':6:5: appliances[0].apiKey: unknown key; did you mean "api_key"?',
    ':7:12: appliances[0].tls.insecure: unknown key; did you mean "insecure_skip_verify"?',
    ':7:28: appliances[0].tls[?]: unknown key; the keys here are ca_file, server_name, fingerprint_sha256, insecure_skip_verify',
    ':9:7: appliances[0].collectors.certificats: unknown key; did you mean "certificates"?',
    ':10:16: appliances[0].collectors.farms.scheduel: unknown key; did you mean "schedule"?',
    ':10:44: appliances[0].collectors.farms.every: unknown key; the keys here are enabled, schedule, max_stale',
    ':11:1: poling: unknown key; did you mean "polling"?',
    ':12:1: __proto__: unknown key; the keys here are appliances, appliance_files, twins, collectors, polling, limits, history, admin, requests',
  ],
  'unquoted-variable.yml': [
    ':2:44: this does not belong here; check the indentation, and put values with special characters in quotes, such as "${NAME}" inside { }',
  ],
  'urls.yml': [
    ':2:38: appliances[0].url: plain http would send the API key in clear text; write https://, and pin a self-signed certificate by its fingerprint',
    ':3:38: appliances[1].url: must start with https://',
    ':4:38: appliances[2].url: must not contain a user or a password (the part before @); the API key has its own setting',
    ':5:38: appliances[3].url: must not contain a user or a password (the part before @); the API key has its own setting',
    ':6:38: appliances[4].url: must not contain a query or a fragment; remove everything from ? or #',
    ':7:38: appliances[5].url: must not contain a query or a fragment; remove everything from ? or #',
    ':8:38: appliances[6].url: is not an address; write https://HOST:PORT such as https://192.0.2.10:444, an IPv6 host in brackets: https://[2001:db8::10]:444',
    ':9:38: appliances[7].url: is not an address; write https://HOST:PORT such as https://192.0.2.10:444, an IPv6 host in brackets: https://[2001:db8::10]:444',
    ':10:38: appliances[8].url: must not contain spaces or backslashes',
    ':11:38: appliances[9].url: is not an address; write https://HOST:PORT such as https://192.0.2.10:444, an IPv6 host in brackets: https://[2001:db8::10]:444',
  ],
  'variables.yml': [
    ':2:11: appliances[0].name: the environment variable NAME_NOT_SET is not set; set it for the exporter, or write $$ for a plain dollar',
    ':4:14: appliances[0].api_key: the environment variable in it is not set; set it for the exporter, or write $$ for a plain dollar',
    ':5:21: appliances[0].labels.site: ${ must be followed by the name of an environment variable and }; write $$ for a plain dollar',
    ':5:34: appliances[0].labels.rack: ${ must be followed by the name of an environment variable and }; write $$ for a plain dollar',
    ':5:57: appliances[0].labels.row: ${ must be followed by the name of an environment variable and }; write $$ for a plain dollar',
    ':7:12: polling.timeout: the environment variable TIMEOUT_NOT_SET is not set; set it for the exporter, or write $$ for a plain dollar',
    ':8:11: polling.jitter: must be a share such as 10% or 0.1, got "${KEY_SET}"',
  ],
  'vip-rules.yml': [
    ':2:35: collectors.vip.schedule: would connect to each farm more than once a minute; name a single second, such as "0 * * * * *"',
    ':7:36: appliances[0].collectors.vip.schedule: would connect to each farm more than once a minute; name a single second, such as "0 * * * * *"',
    ':8:26: appliances[0].vip.connect_to.lb.example.org: is not an address of a farm; write an IP address, with or without a port, such as 192.0.2.40:443',
    ':8:53: appliances[0].vip.connect_to[?]: is not an address of a farm; write an IP address, with or without a port, such as 192.0.2.40:443',
  ],
  'vip.yml': [
    ':8:48: appliances[0].vip.server_names.shop[1]: must be the host name in the certificate, such as lb.example.org, without a port or path; an IP address is not accepted',
    ':8:70: appliances[0].vip.server_names.web: must be a list, such as ["shop.example.com"]',
    ':9:35: appliances[0].vip.connect_to.192.0.2.40: must be an IP address, with or without a port: 203.0.113.7, 203.0.113.7:443, [2001:db8::7]:443',
    ':10:18: appliances[0].vip.networks[0]: must be a network such as 192.0.2.0/24 or 2001:db8::/64, or an IP address',
    ':10:34: appliances[0].vip.networks[1]: must be a network such as 192.0.2.0/24 or 2001:db8::/64, or an IP address',
    ':11:7: appliances[0].vip.ports: unknown key; the keys here are server_names, connect_to, networks, udp_farms',
  ],
  'words-without-value.yml': [
    ':2:5: this mapping contains a word without a value; write each as "key: value"',
    ':2:5: appliances[0].api_key: is missing; add it, or better api_key_file with the path of a file that holds the key',
  ],
  'wrong-kinds.yml': [
    ':2:5: appliances[0]: must be a mapping of keys and values, such as {"name":"lb-paris","url":"https://192.0.2.10:444","api_key_file":"/run/secrets/lb-paris"}',
    ':3:11: appliances[1].name: must be a single value, such as lb-paris',
    ':4:10: appliances[1].url: must be a single value, such as https://192.0.2.10:444',
    ':5:14: appliances[1].api_key: must be a single value, such as ${LB_PARIS_KEY}',
    ':6:17: appliances[1].key_header: must be one of auto, ZAPI_KEY, API_KEY, ZAPI-KEY, API-KEY',
    ':7:10: appliances[1].tls: must be a mapping of keys and values',
    ':8:13: appliances[1].labels: must be a mapping of keys and values, such as {"site":"paris"}',
    ':9:23: appliances[1].farms.include: must be a list, such as ["web-.*"]',
    ':9:37: appliances[1].farms.exclude: must be a list, such as ["test-.*"]',
    ':10:17: appliances[1].collectors: must be a mapping of keys and values',
    ':11:10: polling: must be a mapping of keys and values',
    ':12:33: limits.series_per_appliance: must be a whole number at least 100, got "many"',
  ],
};

/** Files that are refused by the last checks, and those whose mistake is not inside of them. */
const refusedLast: readonly string[] = [
  'admin-rules.yml',
  'admin-tokens-rules.yml',
  'alias-bomb.yml',
  'circular-alias.yml',
  'empty.yml',
  'history.yml',
  'key-files.yml',
  'max-stale.yml',
  'merged-text.yml',
  'names-repeated.yml',
  'only-comments.yml',
  'polling-budgets.yml',
  'requests-off.yml',
  'requests-rules.yml',
  'requests-silent.yml',
  'tls-rules.yml',
  'twins.yml',
  'vip-rules.yml',
];

describe('an invalid configuration file', () => {
  it('is in the table with its messages', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.yml'));

    expect(Object.keys(expected)).toEqual(files.toSorted());
  });

  it.each(Object.entries(expected))(
    'is refused with all its errors and positions, and without a secret: %s',
    async (name, lines) => {
      const env = { KEY_SET: 'CANARY' };

      const refused = await wholeRefusal(loadSettings({ file: folder + name, env }));

      const last = refusedLast.includes(name) ? [] : [furtherChecks];
      expect(refused).toEqual([...lines, ...last].map((line) => name + line));
      expect(refused.join('\n')).not.toMatch(/CANA|RY@/);
    },
  );
});
