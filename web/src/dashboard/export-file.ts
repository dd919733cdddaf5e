import { send } from './api.ts';

/** The browser function that opens a file for writing while the data arrives. Only some browsers have it. */
interface FilePicker {
  readonly showSaveFilePicker?: (options: { suggestedName: string }) => Promise<{
    createWritable(): Promise<WritableStream<Uint8Array> & { abort(): Promise<void> }>;
  }>;
}

export interface FileInput {
  readonly path: string;
  readonly name: string;
  readonly payments: number;
  readonly signal: AbortSignal;
  readonly onLines: (lines: number) => void;
}

/**
 * The number of payments above which an export is written to a file while it arrives. Smaller exports are collected in memory and
 * downloaded without a dialog.
 */
const MANY_PAYMENTS = 100_000;
const LINE_END = 10;
/** Spreadsheets recognise UTF-8 by these first bytes. */
const BYTE_ORDER_MARK = new Uint8Array([0xef, 0xbb, 0xbf]);

/** Saves an answer of any size as a file. If the connection breaks off, the promise rejects and no file is saved. */
export async function saveFile({ path, name, payments, signal, onLines }: FileInput): Promise<void> {
  const { showSaveFilePicker } = globalThis as FilePicker;
  const file =
    showSaveFilePicker !== undefined && payments > MANY_PAYMENTS
      ? await (await showSaveFilePicker({ suggestedName: name })).createWritable()
      : undefined;
  const response = await send('GET', path, { signal });
  const body = response.body?.pipeThrough(counted(name.endsWith('.csv'), onLines));
  if (body === undefined) throw new TypeError('The answer has no body.');
  if (file !== undefined) return body.pipeTo(file, { signal });
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = body.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) parts.push(read.value);
  download(new Blob(parts, { type: response.headers.get('content-type') ?? '' }), name);
}

function counted(isCsv: boolean, onLines: (lines: number) => void) {
  let lines = isCsv ? -1 : 0;
  return new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    start(controller) {
      if (isCsv) controller.enqueue(BYTE_ORDER_MARK);
    },
    transform(chunk, controller) {
      for (let at = chunk.indexOf(LINE_END); at !== -1; at = chunk.indexOf(LINE_END, at + 1)) lines += 1;
      onLines(Math.max(lines, 0));
      controller.enqueue(chunk);
    },
  });
}

/** Saves a file as a download, without a dialog. */
export function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // After a minute the browser has begun to read the file, so its URL can be revoked.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
