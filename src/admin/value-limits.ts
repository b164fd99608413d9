export interface Limits {
  readonly low?: number;
  readonly high?: number;
}

/** The limits that a sentence of the appliance sets, themselves included; undefined when it cannot be understood. */
export function limitsOf(sentence: string): Limits | undefined {
  const numbers = sentence.match(/-?\d+(?:\.\d+)?/g)?.map(Number) ?? [];
  const [first, second] = numbers;
  if (first === undefined || numbers.length > 2) return undefined;
  if (second !== undefined) return first <= second ? { low: first, high: second } : undefined;
  const [isLow, isHigh] = [lowWords.test(sentence), highWords.test(sentence)];
  if (isLow === isHigh) return undefined;
  return isLow ? { low: first } : { high: first };
}

const lowWords = /\b(?:from|least|minimum|min|greater|bigger|higher|more|above|low limit)\b/i;
const highWords = /\b(?:up to|most|maximum|max|less|lower|smaller|below|high limit)\b/i;
