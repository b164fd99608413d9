/** Reasons for which bytes of a stream are not a line of a log. */
export type FrameFault = 'too_long' | 'malformed' | 'empty';

/**
 * The longest line. By default, rsyslog cuts lines at 8,096 bytes, where a client may have chosen
 * their end, and a relay may have made their header shorter.
 */
export const maxLineBytes = 8_000;

/** Takes the frames of a stream; each costs, whatever it is. */
export interface FrameSink {
  line(line: string): void;
  fault(fault: FrameFault): void;
  /** Counts bytes that are not a whole frame. */
  incomplete(): void;
  /** True while no more is to be read. */
  readonly isOverLimit: boolean;
}

/** The length of a frame, in front of it (RFC 6587 §3.4.1). */
const octetCount = /^([1-9]\d{0,5}) /;
const longestCount = 7;

/**
 * Takes the lines out of a TCP stream, whose frames begin with their length or end with a line
 * feed, as syslog senders do (RFC 6587). Keeps no more than one frame, and what was not read yet.
 */
export class FrameReader {
  #rest = '';
  #bytesToSkip = 0;
  #skipsLine = false;

  /**
   * Reads the next bytes, one character for each, until their end or the limit of the sink. Returns
   * false if some are left for the next call.
   */
  read(sink: FrameSink, bytes?: Buffer): boolean {
    let text = this.#rest + (bytes?.toString('latin1') ?? '');
    let length: number | undefined;
    let frames = 0;
    while (!sink.isOverLimit && (length = this.#take(text, sink)) !== undefined) {
      text = text.slice(length);
      frames += 1;
    }
    const isRead = !sink.isOverLimit || text === '';
    if (frames === 0 && bytes) sink.incomplete();
    this.#rest = text;
    return isRead;
  }

  /** Reports a frame that the end of the stream has cut off. */
  end(sink: FrameSink): void {
    if (this.#rest !== '') sink.fault('malformed');
    this.#rest = '';
  }

  /** Takes the first frame of a text; returns its length, undefined if more bytes are needed. */
  #take(text: string, sink: FrameSink): number | undefined {
    if (text === '') return undefined;
    if (this.#skipsLine || this.#bytesToSkip > 0) return this.#skip(text, sink);
    return /^[1-9]/.test(text) ? this.#countedFrame(text, sink) : this.#endedFrame(text, sink);
  }

  /** Throws away what is there of a frame that cannot be read; returns its length. */
  #skip(text: string, sink: FrameSink): number {
    sink.incomplete();
    if (this.#skipsLine) {
      const end = text.indexOf('\n') + 1;
      this.#skipsLine = end === 0;
      return this.#skipsLine ? text.length : end;
    }
    const length = Math.min(text.length, this.#bytesToSkip);
    this.#bytesToSkip -= length;
    return length;
  }

  #countedFrame(text: string, sink: FrameSink): number | undefined {
    const [head, digits] = octetCount.exec(text.slice(0, longestCount)) ?? [];
    if (head === undefined) return text.length < longestCount ? undefined : this.#skipLine('malformed', sink);
    const length = Number(digits);
    const end = head.length + length;
    if (length > maxLineBytes) {
      sink.fault('too_long');
      this.#bytesToSkip = end;
      return 0;
    }
    if (text.length < end) return undefined;
    sink.line(text.slice(head.length, end));
    return end;
  }

  #endedFrame(text: string, sink: FrameSink): number | undefined {
    const end = text.indexOf('\n');
    if ((end < 0 ? text.length : end) > maxLineBytes) return this.#skipLine('too_long', sink);
    if (end < 0) return undefined;
    if (end === 0) sink.fault('empty');
    else if (text.startsWith('<')) sink.line(text.slice(0, end));
    else sink.fault('malformed');
    return end + 1;
  }

  #skipLine(fault: FrameFault, sink: FrameSink): number {
    sink.fault(fault);
    this.#skipsLine = true;
    return 0;
  }
}
