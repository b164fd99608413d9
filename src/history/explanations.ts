import { plainSettings, settingText } from '../collectors/configured.ts';
import { type AttributableDifference, isNumberIn, serviceOrder } from './differences.ts';

export interface Call {
  /** `METHOD /path`, as the table of operations writes it. */
  readonly route: string;
  /** Parts of the path by name, such as `farmname`. */
  readonly params: Readonly<Record<string, string>>;
  /** All fields of the body by name; null if the value is not stored. */
  readonly fields: Readonly<Record<string, string | null>>;
}

/**
 * How well a call explains a difference, the least exact first. `perhaps`: it wrote another value, or
 * its backend may have had another number. `anything`: it may change everything. `effect`: a known
 * side effect. `named`: its body has the setting. `exact`: its body has the new value.
 */
export const fits = ['perhaps', 'anything', 'effect', 'named', 'exact'] as const;

export type Fit = (typeof fits)[number];

type Explain = (call: Call, difference: AttributableDifference) => Fit | undefined;

/** Fields with names of objects, and with settings that are compared beside the plain ones. */
const nameFields = ['farmname', 'newfarmname', 'id', 'ip', 'port', 'name', 'file', 'filename', 'vip', 'vport', 'mac'];
const storedFields: ReadonlySet<string> = new Set([...plainSettings, ...nameFields]);

/** Returns the fields of a body, with null for a value that may be a secret. */
export function withoutSecretFields(body: Readonly<Record<string, unknown>>): Call['fields'] {
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const isStored = value === '' || storedFields.has(name);
      return [name, isStored ? (settingText(value) ?? null) : null];
    }),
  );
}

/** Settings that an appliance also changes when another one of the object is set. */
const effects: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  farm: {
    listener: ['profile', 'certificates', 'ciphers', 'cipherc'],
    certname: ['certificates'],
    ciphers: ['cipherc'],
    vport: ['protocol'],
    protocol: ['vport'],
  },
  service: {
    persistence: ['ttl', 'sessionid'],
    redirect: ['redirecttype', 'redirect_code'],
    cookieinsert: ['cookiename', 'cookiedomain', 'cookiepath', 'cookiettl'],
    sts_status: ['sts_timeout'],
  },
  check: { interval: ['timeout'] },
  interface: { dhcp: ['ip'] },
};

/** Explanations by route; the first route that matches counts. */
const explanations: readonly (readonly [RegExp, Explain])[] = [
  // A restored backup may change anything.
  [/\/backup\/\{name\}\/actions$|\/factory$/, () => 'anything'],
  [/^POST \/farms$/, explainFarmCreation],
  [/^PUT \/farms\/\{farmname\}$/, explainFarmUpdate],
  [/^DELETE \/farms\/\{farmname\}$/, explainFarmDeletion],
  [/ \/farms\/\{farmname\}\/certificates/, explainFarmCertificates],
  [/ \/farms\/\{farmname\}\/(?:services\/\{service\}\/)?fg(?:\/\{fg\})?$/, explainCheckLink],
  [/ \/farms\/\{farmname\}\/(?:add|remove|head)\w+(?:\/\{index\})?$/, explainHeaders],
  [/^POST \/farms\/\{farmname\}\/services$/, explainServiceCreation],
  [/^PUT \/farms\/\{farmname\}\/services\/\{service\}$/, explainServiceUpdate],
  [/^DELETE \/farms\/\{farmname\}\/services\/\{service\}$/, explainServiceDeletion],
  [/\/services\/\{service\}\/actions$/, explainServiceOrder],
  [/^POST \/farms\/.*\/backends$/, explainBackendCreation],
  [/^PUT \/farms\/.*\/backends\/\{backend\}$/, explainBackendUpdate],
  [/^DELETE \/farms\/.*\/backends\/\{backend\}$/, explainBackendDeletion],
  [/^PUT \/monitoring\/fg.*\/\{\w+\}$/, explainCheckUpdate],
  [/^DELETE \/monitoring\/fg\/\{name\}$/, explainCheckDeletion],
  [/ \/certificates/, explainCertificate],
  [/^PUT \/interfaces\/\w+\/\{name\}$/, explainInterfaceUpdate],
  [/^POST \/interfaces\/\w+$/, explainInterfaceCreation],
  [/^DELETE \/interfaces\/\w+\/\{name\}$|\/bonding\/\{name\}\/actions$/, explainInterfaceDeletion],
  [/\/bonding\/\{name\}\/slaves/, explainSlaves],
  [
    /\/packages\/offline$/,
    (_, { object, setting }) => (object === 'version' && setting !== 'hostname' ? 'named' : undefined),
  ],
];

/** Returns how well a call explains a difference; undefined if it cannot have caused it. */
export function fitOfCall(call: Call, difference: AttributableDifference): Fit | undefined {
  const [, explain] = explanations.find(([route]) => route.test(call.route)) ?? [];
  return explain?.(call, difference);
}

/** Compares a sent value with a read one: appliances write flags and empty values in several ways. */
function isSameText(sent: string, read: string): boolean {
  return normalizeText(sent) === normalizeText(read);
}

const sameWords: Readonly<Record<string, string>> = { none: '', true: '1', false: '0' };

function normalizeText(text: string): string {
  const word = text.trim().toLowerCase();
  return sameWords[word] ?? word;
}

function isNew({ setting, before }: AttributableDifference): boolean {
  return setting === '' && before === undefined;
}

function isGone({ setting, after }: AttributableDifference): boolean {
  return setting === '' && after === undefined;
}

/** A PUT explains the settings in its body, and their side effects. */
function fitOfSettings({ fields }: Call, { object, setting, after = '' }: AttributableDifference): Fit | undefined {
  if (setting === '' || setting === 'name') return undefined;
  const field = Object.keys(fields).find((name) => name.toLowerCase() === setting.toLowerCase());
  if (field !== undefined) {
    const sent = fields[field];
    if (typeof sent !== 'string') return 'named';
    return isSameText(sent, after) ? 'exact' : 'perhaps';
  }
  const isEffect = Object.entries(effects[object] ?? {}).some(
    ([name, also]) => name in fields && also.includes(setting),
  );
  return isEffect ? 'effect' : undefined;
}

/** A call that creates an object may also explain its settings, if one of that name existed. */
function fitOfNew(difference: AttributableDifference): Fit | undefined {
  if (isNew(difference)) return 'exact';
  return isGone(difference) || difference.setting === 'name' ? undefined : 'perhaps';
}

function explainFarmCreation({ fields }: Call, difference: AttributableDifference): Fit | undefined {
  const { object, farm } = difference;
  if (!['farm', 'service', 'backend'].includes(object) || farm !== fields.farmname) return undefined;
  const fit = fitOfNew(difference);
  return object !== 'farm' && fit === 'exact' ? 'effect' : fit;
}

function explainFarmUpdate(call: Call, difference: AttributableDifference): Fit | undefined {
  const { object, farm, setting, after } = difference;
  const { newfarmname = null } = call.fields;
  const [isOld, isRenamed] = [farm === call.params.farmname, newfarmname !== null && farm === newfarmname];
  if (object !== 'farm') return undefined;
  if (setting === 'name') {
    if (newfarmname === null) return undefined;
    if (after === newfarmname) return isOld ? 'exact' : 'named';
    return isOld ? 'perhaps' : undefined;
  }
  if (isRenamed && isNew(difference)) return 'exact';
  if (newfarmname !== null && isOld && isGone(difference)) return 'perhaps';
  return isOld || isRenamed ? fitOfSettings(call, difference) : undefined;
}

function explainFarmDeletion({ params }: Call, difference: AttributableDifference): Fit | undefined {
  if (difference.farm !== params.farmname || !isGone(difference)) return undefined;
  return difference.object === 'farm' ? 'exact' : 'effect';
}

function explainFarmCertificates({ route, params, fields }: Call, difference: AttributableDifference): Fit | undefined {
  const { object, farm, setting, before = '', after = '' } = difference;
  if (object !== 'farm' || farm !== params.farmname || setting !== 'certificates') return undefined;
  const [was, is] = [before, after].map((list) => list.split(', ').filter(Boolean)) as [string[], string[]];
  const file = params.certificate ?? fields.file ?? '';
  if (route.endsWith('/actions')) return isSameText(was.toSorted().join(), is.toSorted().join()) ? 'exact' : 'perhaps';
  const isSeen = route.startsWith('POST ') ? is.includes(file) : was.includes(file) && !is.includes(file);
  return isSeen ? 'exact' : 'perhaps';
}

/** A link to a health check is a setting of the farm or of the service. */
function explainCheckLink({ route, params, fields }: Call, difference: AttributableDifference): Fit | undefined {
  const { object, farm, service, setting, before, after } = difference;
  const isPlace = object === (params.service === undefined ? 'farm' : 'service') && service === (params.service ?? '');
  if (!isPlace || farm !== params.farmname || setting !== 'farmguardian') return undefined;
  return (route.startsWith('POST ') ? after === fields.name : before === params.fg) ? 'exact' : 'perhaps';
}

/** Lists of headers are compared by name, but calls identify a header by its position. */
function explainHeaders({ route, params }: Call, difference: AttributableDifference): Fit | undefined {
  const { object, farm, setting, before = '', after = '' } = difference;
  if (object !== 'farm' || farm !== params.farmname || route.split('/')[3] !== setting) return undefined;
  const [was, is] = [before, after].map((list) => list.split(', ').filter(Boolean).length) as [number, number];
  const more = route.startsWith('POST ') ? 1 : route.startsWith('DELETE ') ? -1 : 0;
  return is - was === more ? 'named' : 'perhaps';
}

function explainServiceCreation({ params, fields }: Call, difference: AttributableDifference): Fit | undefined {
  const { object, farm, service, setting } = difference;
  // A service that is deleted and created again becomes the last one.
  if (farm === params.farmname && setting === serviceOrder) return 'perhaps';
  if (farm !== params.farmname || service !== fields.id) return undefined;
  return object === 'service' ? fitOfNew(difference) : undefined;
}

function explainServiceUpdate(call: Call, difference: AttributableDifference): Fit | undefined {
  const { params, fields } = call;
  const { object, farm, service } = difference;
  if (farm !== params.farmname || service !== params.service) return undefined;
  if (object === 'service') return fitOfSettings(call, difference);
  // A redirect deletes the backends of its service (docs/api.md §4.2).
  const isRedirect = 'redirect' in fields && fields.redirect !== '';
  return object === 'backend' && isRedirect && isGone(difference) ? 'effect' : undefined;
}

function explainServiceDeletion({ params }: Call, difference: AttributableDifference): Fit | undefined {
  const { object, farm, service } = difference;
  if (farm !== params.farmname || service !== params.service || !isGone(difference)) return undefined;
  return object === 'service' ? 'exact' : 'effect';
}

function explainServiceOrder({ params }: Call, { object, farm, setting }: AttributableDifference): Fit | undefined {
  return object === 'farm' && farm === params.farmname && setting === serviceOrder ? 'named' : undefined;
}

function isInService({ params }: Call, { object, farm, service }: AttributableDifference): boolean {
  return object === 'backend' && farm === params.farmname && service === (params.service ?? '');
}

/** Splits the name of a backend into address and port, which an L4 backend may lack. */
function splitBackendName(name: string): readonly [ip: string, port: string] {
  const [, bracketed, plainIp, port = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(name) ?? [];
  return [bracketed ?? plainIp ?? name, port];
}

/** Returns true if a call gives a backend this name; what it omits stays as it was. */
function givesName({ fields }: Call, name: string, before?: string): boolean {
  const [ip, port] = splitBackendName(name);
  const [oldIp, oldPort] = before === undefined ? [ip, port] : splitBackendName(before);
  return (fields.ip?.toLowerCase() ?? oldIp) === ip && (fields.port ?? oldPort) === port;
}

function explainBackendCreation(call: Call, difference: AttributableDifference): Fit | undefined {
  if (!isInService(call, difference) || !givesName(call, difference.name)) return undefined;
  return fitOfNew(difference);
}

function explainBackendUpdate(call: Call, difference: AttributableDifference): Fit | undefined {
  const { name, setting, before = '', after = '', ids } = difference;
  if (!isInService(call, difference)) return undefined;
  const changesAddress = 'ip' in call.fields || 'port' in call.fields;
  if (setting !== '' && setting !== 'name') return fitOfNumber(call, ids, fitOfSettings(call, difference));
  if (!changesAddress) return undefined;
  if (isNew(difference)) return givesName(call, name) ? 'named' : undefined;
  if (setting === '') return fitOfNumber(call, ids, 'perhaps');
  return fitOfNumber(call, ids, givesName(call, after, before) ? 'exact' : 'perhaps');
}

function explainBackendDeletion(call: Call, difference: AttributableDifference): Fit | undefined {
  return isInService(call, difference) && isGone(difference) ? fitOfNumber(call, difference.ids, 'exact') : undefined;
}

/** Lowers the fit to `perhaps` if the number may also have been that of another backend. */
function fitOfNumber({ params }: Call, ids: AttributableDifference['ids'] = [], fit: Fit | undefined): Fit | undefined {
  if (fit === undefined) return undefined;
  const count = 'from' in ids ? ids.to - ids.from + 1 : ids.length;
  if (count > 0 && !isNumberIn(ids, params.backend ?? '')) return undefined;
  return count === 1 ? fit : 'perhaps';
}

function explainCheckUpdate(call: Call, difference: AttributableDifference): Fit | undefined {
  const { name, farmguardian = name } = call.params;
  if (difference.object !== 'check' || difference.name !== farmguardian) return undefined;
  const fit = fitOfSettings(call, difference);
  // Appliances set `timeout` to the value of `interval`.
  return fit === 'effect' && !isSameText(call.fields.interval ?? '', difference.after ?? '') ? 'perhaps' : fit;
}

function explainCheckDeletion({ params }: Call, { setting, before, after }: AttributableDifference): Fit | undefined {
  return setting === 'farmguardian' && before === params.name && after === '' ? 'effect' : undefined;
}

function explainCertificate({ route, params, fields }: Call, difference: AttributableDifference): Fit | undefined {
  if (difference.object !== 'certificate') return undefined;
  const isAutomatic = /\/letsencryptz?(?:\/|$)/.test(route);
  const isActivation = route.endsWith('/activation');
  const named = params.file ?? params.name ?? fields.name ?? fields.file ?? (isActivation ? 'activation' : undefined);
  // The appliance names the certificate after its domains.
  if (named === undefined) return isAutomatic && route.startsWith('POST ') && isNew(difference) ? 'perhaps' : undefined;
  const file = named.replaceAll(/[()@\s]/g, '');
  if (![file, `${file}.pem`, `${file}.csr`].includes(difference.name)) return undefined;
  if (route.startsWith('DELETE ')) return isGone(difference) ? 'exact' : undefined;
  // A certificate only changes with another file of its name.
  return fitOfNew(difference) && 'exact';
}

function explainInterfaceUpdate(call: Call, difference: AttributableDifference): Fit | undefined {
  const { object, name, setting, after = '' } = difference;
  if (object === 'interface' && name === call.params.name) return fitOfSettings(call, difference);
  // The farms of an address move with it (docs/api.md §4.6).
  const isMoved = object === 'farm' && setting === 'vip' && typeof call.fields.ip === 'string';
  return isMoved && isSameText(call.fields.ip ?? '', after) ? 'effect' : undefined;
}

function explainInterfaceCreation({ fields }: Call, difference: AttributableDifference): Fit | undefined {
  return difference.object === 'interface' && difference.name === fields.name ? fitOfNew(difference) : undefined;
}

/** A network card stays, but loses its address. */
function explainInterfaceDeletion({ params }: Call, difference: AttributableDifference): Fit | undefined {
  const { object, name, setting, after } = difference;
  if (object !== 'interface' || name !== params.name) return undefined;
  return isGone(difference) || (setting === 'ip' && after === '') ? 'exact' : undefined;
}

function explainSlaves({ params, fields }: Call, { object, name, setting }: AttributableDifference): Fit | undefined {
  const names = [params.name, params.slave, fields.name];
  return object === 'interface' && names.includes(name) && ['parent', 'mac'].includes(setting) ? 'effect' : undefined;
}
