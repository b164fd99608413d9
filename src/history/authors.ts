import { type ConfiguredKind, configuredKinds } from '../collectors/configured.ts';
import type { FoundDifference } from './differences.ts';

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

/** Routes that act, and leave the configuration as it is. */
const acts = /\/(?:actions|maintenance)$/;

/** The objects that calls of a route can change; the first one that matches counts. */
const reaches: readonly Reach[] = [
  { route: /\/backends/, kinds: ['backend'] },
  { route: /\/services(?:\/\{service\})?$/, kinds: ['service', 'backend'] },
  { route: / \/farms\/\{farmname\}\//, kinds: ['farm', 'service'] },
  { route: / \/farms/, kinds: ['farm', 'service', 'backend'] },
  { route: /\/monitoring\/fg/, kinds: ['check', 'farm', 'service'] },
  { route: / \/certificates/, kinds: ['certificate', 'farm'] },
  { route: / \/(?:interfaces|aliases|routing)/, kinds: ['interface'] },
  // A backup may change anything.
  { route: /\/backup/, kinds: configuredKinds },
  { route: / \/(?:system|cluster)/, kinds: ['version', 'interface'] },
];

/** Returns true if a call can have caused a difference. */
export function explains({ route, params, fields }: Touch, difference: FoundDifference): boolean {
  if (acts.test(route)) return false;
  const reach = reaches.find((each) => each.route.test(route));
  return (
    reach?.kinds.some((kind) => kind === difference.object) === true &&
    isAbout({ params, fields }, difference) &&
    isOfSetting(route, fields, difference)
  );
}

/** Compares what the path and the body name with the names of the difference. */
function isAbout({ params, fields }: Pick<Touch, 'params' | 'fields'>, difference: FoundDifference): boolean {
  const { object, farm, service, name, id, setting, after } = difference;
  const namedFarm = params.farmname ?? fields.farmname;
  if (namedFarm !== undefined && farm !== '' && namedFarm !== farm && namedFarm !== after) return false;
  const namedService = params.service ?? (object === 'service' && setting === '' ? fields.id : undefined);
  if (namedService !== undefined && namedService !== service) return false;
  if (object === 'backend') {
    if (params.backend !== undefined && id !== undefined && id !== '' && params.backend !== id) return false;
    if (setting === '' && fields.ip !== undefined && !name.includes(fields.ip)) return false;
  }
  const file = params.certificate ?? fields.filename;
  if (object === 'certificate' && file !== undefined && file !== name) return false;
  const ofInterface = params.interface ?? params.name ?? fields.name;
  return object !== 'interface' || ofInterface === undefined || ofInterface === name;
}

/** A PUT changes the settings that its body names, and an object's name or address with them. */
function isOfSetting(route: string, fields: Touch['fields'], { setting }: FoundDifference): boolean {
  if (!route.startsWith('PUT ') || setting === '' || Object.keys(fields).length === 0) return true;
  if (setting === 'name') return ['newfarmname', 'ip', 'port'].some((field) => field in fields);
  return setting in fields;
}
