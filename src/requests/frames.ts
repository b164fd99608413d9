/** Reasons for which bytes of a stream are no line of a log. */
export type FrameFault = 'too_long' | 'malformed';

/** The longest line; by default, rsyslog sends no longer ones. */
export const maxLineBytes = 8_192;

/** The length of a frame, in front of it (RFC 6587 §3.4.1). */
const octetCount = /^([1-9]\d{0,5}) /;
const longestCount = 7;

/**
 * Takes the lines out of a TCP stream, whose frames begin with their length or end with a line
 * feed, as syslog senders do (RFC 6587). Keeps no more than one frame.
 */
export class FrameReader {
  readonly #onLine: (line: string) => void;
  readonly #onFault: (fault: FrameFault) => void;
  #rest = '';
  #bytesToSkip = 0;
  #skipsLine = false;

  constructor(onLine: (line: string) => void, onFault: (fault: FrameFault) => void) {
    this.#onLine = onLine;
    this.#onFault = onFault;
  }

  /** Reads the next bytes of the stream, one character for each. */
  read(bytes: Buffer): void {
    const text = this.#rest + bytes.toString('latin1');
    let from = 0;
    for (let next = this.#frame(text, from); next !== undefined; next = this.#frame(text, from)) from = next;
    this.#rest = text.slice(from);
  }

  /** Reports a frame that the end of the stream has cut off. */
  end(): void {
    if (this.#rest !== '') this.#onFault('malformed');
    this.#rest = '';
  }

  /** Takes one frame; returns where the next begins, undefined if more bytes are needed first. */
  #frame(text: string, from: number): number | undefined {
    if (from >= text.length) return undefined;
    if (this.#bytesToSkip > 0) {
      const skipped = Math.min(this.#bytesToSkip, text.length - from);
      this.#bytesToSkip -= skipped;
      return from + skipped;
    }
    const isCounted = !this.#skipsLine && /[1-9]/.test(text.charAt(from));
    return isCounted ? this.#countedFrame(text, from) : this.#endedFrame(text, from);
  }

  #countedFrame(text: string, from: number): number | undefined {
    const [head, digits] = octetCount.exec(text.slice(from, from + longestCount)) ?? [];
    if (head === undefined) {
      if (text.length - from < longestCount) return undefined;
      return this.#fault('malformed', from);
    }
    const start = from + head.length;
    const length = Number(digits);
    if (length > maxLineBytes) {
      this.#onFault('too_long');
      this.#bytesToSkip = length;
      return start;
    }
    if (text.length < start + length) return undefined;
    this.#onLine(text.slice(start, start + length));
    return start + length;
  }

  #endedFrame(text: string, from: number): number | undefined {
    const end = text.indexOf('\n', from);
    const length = (end < 0 ? text.length : end) - from;
    if (this.#skipsLine) {
      this.#skipsLine = end < 0;
      return from + length + 1;
    }
    if (length > maxLineBytes) return this.#fault('too_long', from);
    if (end < 0) return undefined;
    if (length > 0 && text.charAt(from) !== '<') this.#onFault('malformed');
    else if (length > 0) this.#onLine(text.slice(from, end));
    return end + 1;
  }

  /** Reports a fault, and skips the rest of the line. */
  #fault(fault: FrameFault, from: number): number {
    this.#onFault(fault);
    this.#skipsLine = true;
    return from;
  }
}
