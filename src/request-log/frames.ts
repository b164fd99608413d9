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
    let text = this.#rest + bytes.toString('latin1');
    for (let length = this.#take(text); length !== undefined; length = this.#take(text)) text = text.slice(length);
    this.#rest = text;
  }

  /** Reports a frame that the end of the stream has cut off. */
  end(): void {
    if (this.#rest !== '') this.#onFault('malformed');
    this.#rest = '';
  }

  /** Takes the first frame of a text; returns its length, undefined if more bytes are needed. */
  #take(text: string): number | undefined {
    if (text === '') return undefined;
    if (this.#skipsLine || this.#bytesToSkip > 0) return this.#skip(text);
    return /^[1-9]/.test(text) ? this.#countedFrame(text) : this.#endedFrame(text);
  }

  /** Throws away what is there of a frame that cannot be read; returns its length. */
  #skip(text: string): number {
    if (this.#skipsLine) {
      const end = text.indexOf('\n') + 1;
      this.#skipsLine = end === 0;
      return this.#skipsLine ? text.length : end;
    }
    const length = Math.min(text.length, this.#bytesToSkip);
    this.#bytesToSkip -= length;
    return length;
  }

  #countedFrame(text: string): number | undefined {
    const [head, digits] = octetCount.exec(text.slice(0, longestCount)) ?? [];
    if (head === undefined) return text.length < longestCount ? undefined : this.#skipLine('malformed');
    const length = Number(digits);
    const end = head.length + length;
    if (length > maxLineBytes) {
      this.#onFault('too_long');
      this.#bytesToSkip = end;
      return 0;
    }
    if (text.length < end) return undefined;
    this.#onLine(text.slice(head.length, end));
    return end;
  }

  #endedFrame(text: string): number | undefined {
    const end = text.indexOf('\n');
    if ((end < 0 ? text.length : end) > maxLineBytes) return this.#skipLine('too_long');
    if (end < 0) return undefined;
    if (end > 0 && !text.startsWith('<')) this.#onFault('malformed');
    else if (end > 0) this.#onLine(text.slice(0, end));
    return end + 1;
  }

  #skipLine(fault: FrameFault): number {
    this.#onFault(fault);
    this.#skipsLine = true;
    return 0;
  }
}
