/** Reasons for which bytes of a stream are not a line of a log. */
export type FrameFault = 'too_long' | 'malformed' | 'empty';

/**
 * The longest line. By default, rsyslog cuts lines at 8,096 bytes, where a client may have chosen
 * their end, and a relay may have made their header shorter.
 */
export const maxLineBytes = 8_000;

/** Takes the lines of one appliance. Each call is charged to the limit, also for what is not a line. */
export interface LineConsumer {
  line(line: string): void;
  fault(fault: FrameFault | 'over_limit'): void;
  /** Charges a line to the limit, for bytes that are not a whole frame. */
  charge(): void;
  /** While it is true, a connection waits, and a datagram is dropped. */
  readonly takesNoMore: boolean;
}

/** Matches the length before a frame (RFC 6587 §3.4.1). */
const octetCount = /^([1-9]\d{0,5}) /;
const longestCount = 7;

/**
 * Splits a TCP stream into lines. As syslog senders do (RFC 6587), each frame begins with its length
 * or ends with a line feed. Keeps no more than one frame, and the bytes that were not read yet.
 */
export class FrameReader {
  #rest = '';
  #bytesToSkip = 0;
  #skipsLine = false;

  /**
   * Reads the next bytes, one character for each, until their end or the limit of the consumer.
   * Returns false if some are left for the next call.
   */
  read(consumer: LineConsumer, bytes?: Buffer): boolean {
    let text = this.#rest + (bytes?.toString('latin1') ?? '');
    let length: number | undefined;
    let frames = 0;
    while (!consumer.takesNoMore && (length = this.#take(text, consumer)) !== undefined) {
      text = text.slice(length);
      frames += 1;
    }
    const isRead = !consumer.takesNoMore || text === '';
    if (frames === 0 && bytes) consumer.charge();
    this.#rest = text;
    return isRead;
  }

  /** Reports a frame that is incomplete at the end of the stream. */
  end(consumer: LineConsumer): void {
    if (this.#rest !== '') consumer.fault('malformed');
    this.#rest = '';
  }

  /** Takes the first frame of a text; returns its length, undefined if more bytes are needed. */
  #take(text: string, consumer: LineConsumer): number | undefined {
    if (text === '') return undefined;
    if (this.#skipsLine || this.#bytesToSkip > 0) return this.#skip(text, consumer);
    return /^[1-9]/.test(text) ? this.#countedFrame(text, consumer) : this.#endedFrame(text, consumer);
  }

  /** Skips the bytes of a frame that cannot be read; returns how many. */
  #skip(text: string, consumer: LineConsumer): number {
    consumer.charge();
    if (this.#skipsLine) {
      const end = text.indexOf('\n') + 1;
      this.#skipsLine = end === 0;
      return this.#skipsLine ? text.length : end;
    }
    const length = Math.min(text.length, this.#bytesToSkip);
    this.#bytesToSkip -= length;
    return length;
  }

  #countedFrame(text: string, consumer: LineConsumer): number | undefined {
    const [head, digits] = octetCount.exec(text.slice(0, longestCount)) ?? [];
    if (head === undefined) return text.length < longestCount ? undefined : this.#skipLine('malformed', consumer);
    const length = Number(digits);
    const end = head.length + length;
    if (length > maxLineBytes) {
      consumer.fault('too_long');
      this.#bytesToSkip = end;
      return 0;
    }
    if (text.length < end) return undefined;
    consumer.line(text.slice(head.length, end));
    return end;
  }

  #endedFrame(text: string, consumer: LineConsumer): number | undefined {
    const end = text.indexOf('\n');
    if ((end < 0 ? text.length : end) > maxLineBytes) return this.#skipLine('too_long', consumer);
    if (end < 0) return undefined;
    if (end === 0) consumer.fault('empty');
    else if (text.startsWith('<')) consumer.line(text.slice(0, end));
    else consumer.fault('malformed');
    return end + 1;
  }

  #skipLine(fault: FrameFault, consumer: LineConsumer): number {
    consumer.fault(fault);
    this.#skipsLine = true;
    return 0;
  }
}
