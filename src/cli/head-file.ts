import { readFile } from 'node:fs/promises';
import { readSignedHead, type SignedHead } from '../domain/signed-head.ts';
import { ApiError } from '../errors.ts';

/** Reads a file written by `books head --json` or `secret rotate --head`. */
export async function readHead(file: string): Promise<SignedHead> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new ApiError('invalid_params', `The file ${file} cannot be read (${error.code}).`);
  });
  const signed = readSignedHead(content);
  if (signed === undefined)
    throw new ApiError('invalid_params', `The file ${file} is no head of \`books head --json\`.`);
  return signed;
}
