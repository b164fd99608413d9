import { parser } from '@prometheus-io/lezer-promql';

type Node = ReturnType<typeof parser.parse>['topNode'];

/** The label names of series, for each form in which an expression can have them. */
export type Forms = readonly ReadonlySet<string>[];

export interface LabelFlow {
  /** The labels of the result; no form for a scalar, and for what no series leads to. */
  readonly forms: Forms;
  /** Joins of which no form of the left side can match one of the right side. */
  readonly impossible: readonly string[];
}

/**
 * Follows label names through an expression, from its series to its result. `formsOf` says which
 * labels a metric has.
 */
export function labelFlow(expression: string, formsOf: (metric: string) => Forms): LabelFlow {
  const impossible: string[] = [];
  const text = (node: Node | null): string => (node ? expression.slice(node.from, node.to) : '');

  const follow = (node: Node | null): Forms => {
    if (!node) return [];
    if (node.name === 'VectorSelector') return formsOf(text(node.getChild('Identifier')));
    if (node.name === 'FunctionCall') return afterCall(node);
    if (node.name === 'AggregateExpr') return afterAggregation(node);
    if (node.name === 'BinaryExpr') return afterJoin(node);
    return (
      childrenOf(node)
        .map(follow)
        .find(({ length }) => length > 0) ?? []
    );
  };

  const afterCall = (node: Node): Forms => {
    const name = text(node.firstChild);
    if (name === 'absent') return [new Set()];
    const body = node.getChild('FunctionCallBody');
    const forms = follow(body);
    if (name !== 'label_replace') return forms;
    const made = text(body?.getChild('StringLiteral') ?? null).slice(1, -1);
    return unique(forms.map((form) => new Set([...form, made])));
  };

  const afterAggregation = (node: Node): Forms => {
    const forms = follow(node.getChild('FunctionCallBody'));
    // They select series, and keep their labels.
    if (['topk', 'bottomk'].includes(text(node.firstChild))) return forms;
    const modifier = node.getChild('AggregateModifier');
    const named = new Set(labelsIn(modifier, text));
    if (!modifier) return forms.length > 0 ? [new Set()] : [];
    const stays = (label: string) => named.has(label) !== (modifier.firstChild?.name === 'Without');
    return unique(forms.map((form) => new Set([...form].filter(stays))));
  };

  const afterJoin = (node: Node): Forms => {
    const [left = [], right = []] = node.getChildren('Expr').map(follow);
    if (left.length === 0 || right.length === 0) return left.length > 0 ? left : right;
    if (node.getChild('Or')) return unique([...left, ...right]);
    const { key, taken } = matchingOf(node.getChild('MatchingModifierClause'), text);
    const matching = left.filter((form) => right.some((other) => same(key(form), key(other))));
    if (matching.length === 0) impossible.push(text(node).replaceAll(/\s+/g, ' '));
    if (node.getChild('And') || node.getChild('Unless')) return left;
    return unique(matching.map((form) => (taken ? new Set([...form, ...taken]) : key(form))));
  };

  return { forms: follow(parser.parse(expression).topNode), impossible };
}

/** Which labels a join compares; `taken` are those that `group_left` takes over. */
function matchingOf(clause: Node | null, text: (node: Node | null) => string) {
  const on = clause?.getChild('On') !== null && clause !== null;
  const lists = clause?.getChildren('GroupingLabels') ?? [];
  const named = new Set(labelsIn(lists[0] ?? null, text));
  return {
    key: (form: ReadonlySet<string>) => new Set([...form].filter((label) => named.has(label) === on)),
    taken: clause?.getChild('GroupLeft') ? labelsIn(lists[1] ?? null, text) : undefined,
  };
}

function labelsIn(node: Node | null, text: (node: Node | null) => string): readonly string[] {
  if (!node) return [];
  return node.name === 'LabelName' ? [text(node)] : childrenOf(node).flatMap((child) => labelsIn(child, text));
}

function childrenOf(node: Node): readonly Node[] {
  const children: Node[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child);
  return children;
}

function unique(forms: Forms): Forms {
  return forms.filter((form, index) => forms.findIndex((other) => same(form, other)) === index);
}

function same(left: ReadonlySet<string>, right: ReadonlySet<string>): boolean {
  return left.size === right.size && [...left].every((label) => right.has(label));
}
