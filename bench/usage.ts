/** What the exporter's process used from one look to the next. */
export interface Usage {
  /** CPU seconds per second. */
  readonly cpuShare: number;
  readonly loopDelayMs: { readonly p99: number; readonly max: number };
  readonly rssBytes: number;
  readonly highestRssBytes: number;
  readonly heapBytes: number;
  /** Outside of the heap, the texts among them. */
  readonly externalBytes: number;
}
