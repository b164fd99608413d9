/**
 * Bytes in memory of their own. Small buffers otherwise share blocks of 64 kB with whatever was made at the same time, and
 * one line that is kept keeps the whole block: 330,000 series then take a gigabyte.
 */
export function ownBytes(content: string | Buffer): Buffer {
  if (typeof content === 'string') {
    const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(content));
    bytes.write(content);
    return bytes;
  }
  const bytes = Buffer.allocUnsafeSlow(content.length);
  content.copy(bytes);
  return bytes;
}
