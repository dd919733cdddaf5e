import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BUILT_FONTS, fontFiles } from '../src/paper/fonts.ts';

/** Copies the font files of printed receipts to the built pages, so that an install for production needs no font packages. */
await rm(BUILT_FONTS, { recursive: true, force: true });
await mkdir(BUILT_FONTS, { recursive: true });
await Promise.all(fontFiles().map(({ file, packaged }) => copyFile(packaged, join(BUILT_FONTS, file))));
