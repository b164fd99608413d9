import { type ConfiguredKind, configuredKinds } from '../collectors/configured.ts';
import { type FoundDifference, serviceOrder } from './differences.ts';

/** A call through the gateway that may change the configuration of an appliance. */
export interface Touch {
  readonly appliance: string;
  /** `METHOD /path` of the call, as the table of operations writes it. */
  readonly route: string;
  /** Parts of the path by name, such as `farmname`. */
  readonly params: Readonly<Record<string, string>>;
  /** The names of all fields of the body, and the texts of those that name objects. */
  readonly fields: Readonly<Record<string, string>>;
  /** Such as `change ID by alice`. */
  readonly by: string;
}

/** Fields of a body that name the object it is about; no other text of a body is kept. */
export const namingFields: readonly string[] = [
  'farmname',
  'newfarmname',
  'id',
  'ip',
  'port',
  'name',
  'file',
  'filename',
];

interface Reach {
  /** Matches the route. */
  readonly route: RegExp;
  readonly kinds: readonly ConfiguredKind[];
}

/** The objects that calls of a route can change; the first one that matches counts. */
const reaches: readonly Reach[] = [
  // A restored backup may change anything.
  { route: /\/backup\/\{name\}\/actions$|\/factory$/, kinds: configuredKinds },
  { route: /\/letsencryptz?\/\{name\}(?:\/actions)?$/, kinds: ['certificate', 'farm'] },
  { route: /\/certificates\/\{certificate\}\/actions$/, kinds: ['farm'] },
  { route: /\/services\/\{service\}\/actions$/, kinds: ['farm'] },
  // Other actions leave the configuration as it is.
  { route: /\/(?:actions|maintenance)$/, kinds: [] },
  { route: / \/farms\/.*\/backends/, kinds: ['backend'] },
  { route: / \/farms\/.*\/services(?:\/\{service\})?$/, kinds: ['service', 'backend'] },
  { route: / \/farms\/\{farmname\}\//, kinds: ['farm', 'service'] },
  { route: / \/farms/, kinds: ['farm', 'service', 'backend'] },
  { route: / \/monitoring\/fg/, kinds: ['check', 'farm', 'service'] },
  { route: / \/certificates(?:\/pem|\/\{file\}|\/letsencryptz?)?$/, kinds: ['certificate'] },
  { route: / \/interfaces/, kinds: ['interface'] },
  { route: /\/packages\/offline$/, kinds: ['version'] },
];

/** Returns true if a call can have caused a difference. */
export function explains(touch: Touch, difference: FoundDifference): boolean {
  const { kinds = [] } = reaches.find((each) => each.route.test(touch.route)) ?? {};
  if (kinds === configuredKinds) return true;
  return (
    kinds.some((kind) => kind === difference.object) &&
    isOnFarm(touch, difference) &&
    isOfName(touch, difference) &&
    isOfSetting(touch, difference)
  );
}

/** Compares the farm and the service that a call names with those of the difference. */
function isOnFarm({ params, fields }: Touch, { object, farm, service, setting, after }: FoundDifference): boolean {
  const namedFarm = params.farmname ?? fields.farmname;
  if (namedFarm !== undefined && farm !== '' && namedFarm !== farm && namedFarm !== after) return false;
  // A call moves one service, and others with it.
  if (setting === serviceOrder) return true;
  const namedService = params.service ?? (object === 'service' && setting === '' ? fields.id : undefined);
  return namedService === undefined || namedService === service;
}

/** Compares the object that a call names with that of the difference. */
function isOfName({ params, fields }: Touch, { object, name, id, setting }: FoundDifference): boolean {
  if (object === 'backend' && setting === '' && fields.ip !== undefined)
    return fields.ip.toLowerCase() === hostOf(name);
  if (object === 'backend') return params.backend === undefined || !id || params.backend === id;
  if (object === 'farm' || object === 'service') return true;
  const named = params.file ?? params.farmguardian ?? params.interface ?? params.name ?? fields.name ?? fields.filename;
  return named === undefined || named === name || `${named}.pem` === name;
}

/** Returns the address in the name of a backend, without its port. */
function hostOf(name: string): string {
  return name.replace(/:\d+$/, '').replaceAll(/[[\]]/g, '');
}

/** A PUT changes the settings that its body names, and an object's name or address with them. */
function isOfSetting({ route, fields }: Touch, { setting }: FoundDifference): boolean {
  if (!route.startsWith('PUT ') || setting === '' || Object.keys(fields).length === 0) return true;
  if (setting === 'name') return ['newfarmname', 'ip', 'port'].some((field) => field in fields);
  return setting in fields;
}
