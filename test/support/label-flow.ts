import { childrenOf, clausesIn, type Node, parseQuery, type Selector, selectorAt, textOf, unquoted } from './promql.ts';

/** The label names of series, for each form in which an expression can have them. */
export type Forms = readonly ReadonlySet<string>[];

export interface KnownSeries {
  /** Its label names, for each form in which it can have them. */
  readonly forms: Forms;
  /** All of these. */
  readonly labels: ReadonlySet<string>;
  /** For labels with a closed list of values. */
  readonly values: Readonly<Record<string, readonly string[]>>;
}

export interface LabelFlow {
  /** The labels of the result; no form for a scalar, and for what no series leads to. */
  readonly forms: Forms;
  /** Series, labels and values that do not exist, and joins whose sides never match. */
  readonly complaints: readonly string[];
}

/** Labels that targets or a configuration may give: no wrong name. */
const given: readonly string[] = ['job', 'instance', 'exporter', 'site', 'cluster', 'region'];

/** Follows label names through an expression, from its series to its result. */
export function labelFlow(expression: string, known: ReadonlyMap<string, KnownSeries>): LabelFlow {
  const complaints: string[] = [];
  const text = (node: Node | null): string => (node ? textOf(node, expression) : '');

  const follow = (node: Node | null): Forms => {
    if (!node) return [];
    if (node.name === 'VectorSelector') return ofSeries(selectorAt(node, expression));
    if (node.name === 'FunctionCall') return afterCall(node);
    if (node.name === 'AggregateExpr') return afterAggregation(node);
    if (node.name === 'BinaryExpr') return afterJoin(node);
    return (
      childrenOf(node)
        .map(follow)
        .find(({ length }) => length > 0) ?? []
    );
  };

  const ofSeries = (selector: Selector): Forms => {
    complaints.push(...complaintsAbout(selector, known.get(selector.metric)));
    return known.get(selector.metric)?.forms ?? [];
  };

  const afterCall = (node: Node): Forms => {
    const name = text(node.firstChild);
    const body = node.getChild('FunctionCallBody');
    const forms = follow(body);
    if (name === 'absent') return [new Set()];
    if (name === 'histogram_quantile') return unique(forms.map((form) => keep(form, (label) => label !== 'le')));
    if (!['label_replace', 'label_join'].includes(name)) return forms;
    const made = unquoted(text(body?.getChild('StringLiteral') ?? null));
    return unique(forms.map((form) => new Set([...form, made])));
  };

  const afterAggregation = (node: Node): Forms => {
    const forms = follow(node.getChild('FunctionCallBody'));
    const modifier = node.getChild('AggregateModifier');
    const clauses = clausesIn(modifier, expression);
    for (const { clause, label } of clauses) if (!isIn(label, [forms])) complaints.push(missing(clause, label));
    // They select series, and keep their labels.
    if (['topk', 'bottomk'].includes(text(node.firstChild))) return forms;
    if (!modifier) return forms.length > 0 ? [new Set()] : [];
    const named = new Set(clauses.map(({ label }) => label));
    const isWithout = modifier.firstChild?.name === 'Without';
    return unique(forms.map((form) => keep(form, (label) => named.has(label) !== isWithout)));
  };

  const afterJoin = (node: Node): Forms => {
    const [left = [], right = []] = node.getChildren('Expr').map(follow);
    if (left.length === 0 || right.length === 0) return left.length > 0 ? left : right;
    if (node.getChild('Or')) return unique([...left, ...right]);
    const modifier = node.getChild('MatchingModifierClause');
    const clauses = clausesIn(modifier, expression);
    for (const { clause, label } of clauses) {
      // A label to match on is on both sides; one to leave out, or to take over, on one of them.
      const isThere = clause === 'on' ? isIn(label, [left]) && isIn(label, [right]) : isIn(label, [left, right]);
      if (!isThere) complaints.push(missing(clause, label));
    }
    const labelsOf = (...words: readonly string[]) =>
      new Set(clauses.flatMap(({ clause, label }) => (words.includes(clause) ? [label] : [])));
    const [compared, taken] = [labelsOf('on', 'ignoring'), labelsOf('group_left', 'group_right')];
    const isOn = Boolean(modifier?.getChild('On'));
    const key = (form: ReadonlySet<string>) => keep(form, (label) => compared.has(label) === isOn);
    const matching = left.filter((form) => right.some((other) => same(key(form), key(other))));
    const matched = right.filter((form) => left.some((other) => same(key(form), key(other))));
    if (matching.length === 0) complaints.push(`cannot match: ${text(node).replaceAll(/\s+/g, ' ')}`);
    if (node.getChild('And') || node.getChild('Unless')) return left;
    const many = modifier?.getChild('GroupLeft') ? matching : modifier?.getChild('GroupRight') ? matched : undefined;
    return unique(many?.map((form) => new Set([...form, ...taken])) ?? matching.map(key));
  };

  return { forms: follow(parseQuery(expression)), complaints };
}

function complaintsAbout({ metric, matchers }: Selector, series: KnownSeries | undefined): readonly string[] {
  if (!series) return [`${metric || 'a selector without a name'}: no such metric`];
  return matchers.flatMap(({ label, op, value }) => {
    if (!isIn(label, [series.forms])) return [`${metric} has no label ${label}`];
    const values = series.values[label];
    const plain = /^[\w|]*$/.test(value);
    if (!values || !plain) return [];
    const named = op.endsWith('~') ? value.split('|') : [value];
    return named.filter((name) => !values.includes(name)).map((name) => `${metric} is never ${label}="${name}"`);
  });
}

function missing(clause: string, label: string): string {
  return `${clause} (${label}): no such label there`;
}

function isIn(label: string, sides: readonly Forms[]): boolean {
  return given.includes(label) || sides.some((forms) => forms.some((form) => form.has(label)));
}

function keep(form: ReadonlySet<string>, isKept: (label: string) => boolean): ReadonlySet<string> {
  return new Set([...form].filter(isKept));
}

export function unique(forms: Forms): Forms {
  return forms.filter((form, index) => forms.findIndex((other) => same(form, other)) === index);
}

function same(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((label) => right.has(label));
}
