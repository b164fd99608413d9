import { parser } from '@prometheus-io/lezer-promql';
import { parseDuration } from '../../src/lib/time.ts';

export type Node = ReturnType<typeof parser.parse>['topNode'];

export interface Matcher {
  readonly label: string;
  readonly op: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

export interface Selector {
  /** Empty when the selector names no metric. */
  readonly metric: string;
  readonly matchers: readonly Matcher[];
}

/** Parses an expression. Throws where that fails. */
export function parseQuery(expression: string): Node {
  const { topNode } = parser.parse(expression);
  for (const node of nodesOf(topNode)) {
    const unclosed = node.name === 'StringLiteral' && !/^(["'`])[^]*\1$/.test(textOf(node, expression));
    if (node.type.isError || unclosed)
      throw new Error(
        `not PromQL at character ${node.from}: ${expression.slice(0, node.from)}▶${expression.slice(node.from)}`,
      );
  }
  return topNode;
}

/** Every selector of an expression, from left to right. */
export function selectorsOf(expression: string): readonly Selector[] {
  return selectorsIn(parseQuery(expression), expression);
}

/** A selector as it stands in an expression, and how much of its time is read. */
export interface Read {
  readonly text: string;
  readonly metric: string;
  /** The lengths of its range, in seconds; 0 for a moment. */
  readonly rangeSeconds: number;
  /** How often it is read: once for each point of the subqueries around it. */
  readonly times: number;
}

/** Every read of samples in an expression. */
export function readsOf(expression: string): readonly Read[] {
  return nodesOf(parseQuery(expression))
    .filter(({ name }) => name === 'VectorSelector')
    .map((node) => {
      const around = ancestorsOf(node);
      const range = around.find(({ name }) => name === 'MatrixSelector');
      const points = around
        .filter(({ name }) => name === 'SubqueryExpr')
        .map((subquery) => {
          const [, length = '', step = ''] = /\[(\w+):(\w+)\]$/.exec(textOf(subquery, expression)) ?? [];
          return secondsOf(length) / secondsOf(step);
        });
      return {
        text: textOf(node, expression),
        metric: selectorAt(node, expression).metric,
        rangeSeconds: range ? secondsOf(/\[(\w+)\]$/.exec(textOf(range, expression))?.[1] ?? '') : 0,
        times: points.reduce((product, each) => product * each, 1),
      };
    });
}

function secondsOf(duration: string): number {
  return (parseDuration(duration) ?? Number.NaN) / 1_000;
}

export interface Grouping {
  readonly clause: 'by' | 'without' | 'on' | 'ignoring' | 'group_left' | 'group_right';
  readonly label: string;
  /** The metrics of the aggregated expression, or of the left and the right side. */
  readonly operands: readonly (readonly string[])[];
}

/** Every label that an expression groups by or matches on. */
export function groupingLabelsOf(expression: string): readonly Grouping[] {
  const metricsIn = (node: Node): readonly string[] => selectorsIn(node, expression).map(({ metric }) => metric);
  return nodesOf(parseQuery(expression)).flatMap((node): readonly Grouping[] => {
    const around = node.parent?.getChildren(node.name === 'AggregateModifier' ? 'FunctionCallBody' : 'Expr') ?? [];
    return clausesIn(node, expression).map((found) => ({ ...found, operands: around.map(metricsIn) }));
  });
}

/** Returns true for an expression that matches or aggregates on no label: `on ()`, a mere sum. */
export function groupsByNothing(expression: string): boolean {
  return nodesOf(parseQuery(expression)).some((node) => {
    if (node.name === 'AggregateExpr') return node.getChild('AggregateModifier') === null;
    return node.name === 'MatchingModifierClause' && clausesIn(node, expression).length === 0;
  });
}

/** The increase of a counter over a time, or its rate. */
export interface Increase {
  readonly metric: string;
  /** True where the expression counts a series that is new from 0: `new or increase(…)`. */
  readonly countsNew: boolean;
}

/** Every counter whose increase or rate an expression takes. */
export function increasesOf(expression: string): readonly Increase[] {
  return nodesOf(parseQuery(expression)).flatMap((node) => {
    const isIncrease = /^(increase|i?rate)\s*\(/.test(textOf(node, expression));
    if (node.name !== 'FunctionCall' || !isIncrease) return [];
    const countsNew = ancestorsOf(node).some((ancestor) => isNewOr(ancestor));
    return selectorsIn(node, expression).map(({ metric }) => ({ metric, countsNew }));
  });
}

/** `series unless series offset … or …`: what has existed only for a short time. */
function isNewOr(node: Node): boolean {
  const [left] = node.getChildren('Expr');
  return node.getChild('Or') !== null && left !== undefined && nodesOf(left).some(({ name }) => name === 'Unless');
}

const clauses = {
  By: 'by',
  Without: 'without',
  On: 'on',
  Ignoring: 'ignoring',
  GroupLeft: 'group_left',
  GroupRight: 'group_right',
} as const;

/** The labels of an AggregateModifier or MatchingModifierClause: `on (a, b) group_left (c)`. */
export function clausesIn(node: Node | null, expression: string): readonly Omit<Grouping, 'operands'>[] {
  if (node?.name !== 'AggregateModifier' && node?.name !== 'MatchingModifierClause') return [];
  let clause: Grouping['clause'] = 'on';
  return childrenOf(node).flatMap((child) => {
    clause = clauses[child.name as keyof typeof clauses] ?? clause;
    const labels = child.name === 'GroupingLabels' ? nodesOf(child) : [];
    return labels
      .filter(({ name }) => name === 'LabelName' || name === 'QuotedLabelName')
      .map((label) => ({ clause, label: unquoted(textOf(label, expression)) }));
  });
}

function selectorsIn(root: Node, expression: string): readonly Selector[] {
  const found = nodesOf(root).filter(({ name }) => name === 'VectorSelector');
  return found.map((node) => selectorAt(node, expression));
}

export function selectorAt(node: Node, expression: string): Selector {
  const matchers = childrenOf(node.getChild('LabelMatchers')).flatMap((matcher): Matcher[] => {
    const [label, op, value] = childrenOf(matcher).map((child) => textOf(child, expression));
    if (label === undefined || op === undefined || value === undefined) return [];
    return [{ label: unquoted(label), op: op as Matcher['op'], value: unquoted(value) }];
  });
  const identifier = node.getChild('Identifier');
  const named = matchers.find(({ label, op }) => label === '__name__' && op === '=')?.value ?? '';
  return {
    metric: identifier ? textOf(identifier, expression) : named,
    matchers: matchers.filter(({ label }) => label !== '__name__'),
  };
}

function nodesOf(root: Node): readonly Node[] {
  return [root, ...childrenOf(root).flatMap(nodesOf)];
}

function ancestorsOf({ parent }: Node): readonly Node[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

export function childrenOf(node: Node | null): readonly Node[] {
  const children: Node[] = [];
  for (let child = node?.firstChild ?? null; child; child = child.nextSibling) children.push(child);
  return children;
}

export function textOf({ from, to }: Node, expression: string): string {
  return expression.slice(from, to);
}

/** A name as it is, a string without its quotes and escapes. */
export function unquoted(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1);
  return /^["']/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}
