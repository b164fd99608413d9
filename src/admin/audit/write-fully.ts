import type { FileHandle } from 'node:fs/promises';

/** Writes all bytes at a place of a file; a full disk may take the first few of them before it refuses. */
export async function writeFully(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, position + written);
    written += bytesWritten;
  }
}
