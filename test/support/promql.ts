import { parser } from '@prometheus-io/lezer-promql';
import { parseDuration } from '../../src/lib/time.ts';

type Node = ReturnType<typeof parser.parse>['topNode'];

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

/** One side of an operator, or the argument of an aggregation: where its labels can come from. */
export interface Operand {
  readonly selectors: readonly Selector[];
  /** Labels that label_replace, label_join or count_values make. */
  readonly made: readonly string[];
}

export interface Grouping {
  readonly clause: 'by' | 'without' | 'on' | 'ignoring' | 'group_left' | 'group_right';
  readonly label: string;
  /** The aggregated expression, or the left and the right side. */
  readonly operands: readonly Operand[];
}

/**
 * Every selector of an expression, from left to right. Throws where the expression cannot be
 * parsed.
 */
export function selectorsOf(expression: string): readonly Selector[] {
  return operandOf(parse(expression), expression).selectors;
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
  return nodesOf(parse(expression))
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

/**
 * Every label that an expression groups by or matches on. Throws where the expression cannot be
 * parsed.
 */
export function groupingLabelsOf(expression: string): readonly Grouping[] {
  return nodesOf(parse(expression)).flatMap((node) => {
    if (node.name === 'AggregateModifier') {
      const clause = node.firstChild?.name === 'Without' ? 'without' : 'by';
      const body = node.parent?.getChild('FunctionCallBody');
      return labelsIn(node, expression).map((label) => ({
        clause,
        label,
        operands: body ? [operandOf(body, expression)] : [],
      }));
    }
    if (node.name !== 'MatchingModifierClause') return [];
    const sides = node.parent?.getChildren('Expr') ?? [];
    const operands = sides.map((side) => operandOf(side, expression));
    return clausesIn(node, expression).map((found) => ({ ...found, operands }));
  });
}

/** Returns true for an expression that matches or aggregates on no label: `on ()`, a mere sum. */
export function groupsByNothing(expression: string): boolean {
  return nodesOf(parse(expression)).some((node) => {
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

/** Every counter of which an expression takes the increase or the rate. */
export function increasesOf(expression: string): readonly Increase[] {
  return nodesOf(parse(expression)).flatMap((node) => {
    const isIncrease = /^(increase|i?rate)\s*\(/.test(textOf(node, expression));
    if (node.name !== 'FunctionCall' || !isIncrease) return [];
    const countsNew = ancestorsOf(node).some((ancestor) => isNewOr(ancestor));
    return operandOf(node, expression).selectors.map(({ metric }) => ({ metric, countsNew }));
  });
}

/** `series unless series offset … or …`: what is there only since a short time. */
function isNewOr(node: Node): boolean {
  const [left] = node.getChildren('Expr');
  return node.getChild('Or') !== null && left !== undefined && nodesOf(left).some(({ name }) => name === 'Unless');
}

function ancestorsOf({ parent }: Node): readonly Node[] {
  return parent ? [parent, ...ancestorsOf(parent)] : [];
}

const clauses = {
  On: 'on',
  Ignoring: 'ignoring',
  GroupLeft: 'group_left',
  GroupRight: 'group_right',
} as const;

/** `on (a, b) group_left (c)`: a clause's word, then its labels. */
function clausesIn(node: Node, expression: string): readonly Pick<Grouping, 'clause' | 'label'>[] {
  let clause: Grouping['clause'] = 'on';
  return childrenOf(node).flatMap((child) => {
    clause = clauses[child.name as keyof typeof clauses] ?? clause;
    return child.name === 'GroupingLabels' ? labelsIn(child, expression).map((label) => ({ clause, label })) : [];
  });
}

function parse(expression: string): Node {
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

function operandOf(root: Node, expression: string): Operand {
  const nodes = nodesOf(root);
  return {
    selectors: nodes.filter(({ name }) => name === 'VectorSelector').map((node) => selectorAt(node, expression)),
    made: nodes.flatMap((node) => madeAt(node, expression)),
  };
}

function selectorAt(node: Node, expression: string): Selector {
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

/** The label that a call makes: its first string. */
function madeAt(node: Node, expression: string): readonly string[] {
  if (!['FunctionCall', 'AggregateExpr'].includes(node.name)) return [];
  const word = node.firstChild?.firstChild?.name ?? '';
  if (!['LabelReplace', 'LabelJoin', 'CountValues'].includes(word)) return [];
  const text = node.getChild('FunctionCallBody')?.getChild('StringLiteral');
  return text ? [unquoted(textOf(text, expression))] : [];
}

function labelsIn(node: Node, expression: string): readonly string[] {
  return nodesOf(node)
    .filter(({ name }) => name === 'LabelName' || name === 'QuotedLabelName')
    .map((label) => unquoted(textOf(label, expression)));
}

function nodesOf(root: Node): readonly Node[] {
  return [root, ...childrenOf(root).flatMap(nodesOf)];
}

function childrenOf(node: Node | null): readonly Node[] {
  const children: Node[] = [];
  for (let child = node?.firstChild ?? null; child; child = child.nextSibling) children.push(child);
  return children;
}

function textOf({ from, to }: Node, expression: string): string {
  return expression.slice(from, to);
}

/** A name as it is, a string without its quotes and escapes. */
function unquoted(text: string): string {
  if (text.startsWith('`')) return text.slice(1, -1);
  return /^["']/.test(text) ? text.slice(1, -1).replaceAll(/\\(.)/g, '$1') : text;
}
