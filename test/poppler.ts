import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DebianProgram, missingProgram, programPath } from './debian-program.ts';

const POPPLER: DebianProgram = { names: ['pdftotext'], debianPackage: 'poppler-utils' };

export const missingPoppler = () => missingProgram(POPPLER);

/** The text of a PDF file, in the order in which it is read. */
export function textOf(pdf: Uint8Array): string {
  return withFile(pdf, (file) => execFileSync(programPath(POPPLER) ?? '', ['-raw', file, '-'], { encoding: 'utf8' }));
}

/** Its first page as a picture. */
export function pictureOf(pdf: Uint8Array): Buffer {
  const program = join(programPath(POPPLER) ?? '', '../pdftoppm');
  return withFile(pdf, (file) => execFileSync(program, ['-singlefile', '-r', '110', '-png', file]));
}

function withFile<T>(pdf: Uint8Array, read: (file: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'till-pdf-'));
  try {
    const file = join(folder, 'receipt.pdf');
    writeFileSync(file, pdf);
    return read(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
