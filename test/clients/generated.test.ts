import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ONLY_LONG } from '../long.ts';
import { openApi } from '../openapi.ts';

const ROOT = join(import.meta.dirname, '../..');
const CACHE = join(ROOT, 'node_modules/.cache');

/** A program of a partner. It compiles only if the generators use the names of the document. */
const PROGRAM = `
import { createPayment, listMerchantPayments, type NewPayment, type PaymentPage } from './functions.ts';
import type { components, operations } from './types.ts';

export const order: NewPayment = { amount: { unit: 'iso4217/USD', value: '1000' }, referenceId: 'ORDER-42' };
export const same: components['schemas']['NewPayment'] = order;
export type Scopes = NonNullable<components['schemas']['ApiKey']['scopes']>;
export const scopes: Scopes = ['payments:read'];
export type Answer = operations['getPayment']['responses'][200]['content']['application/json'];
export const idOf = (payment: Answer): string => payment.paymentId;

export async function pay(): Promise<string> {
  const created = await createPayment('mrch_1', order, { idempotencyKey: 'order-42' });
  return created.status === 201 ? created.data.paymentId : created.data.message;
}

export async function list(): Promise<PaymentPage | undefined> {
  const listed = await listMerchantPayments('mrch_1', { status: ['succeeded'] });
  return listed.status === 200 ? listed.data : undefined;
}
`;

describe('code that generators make from openapi.json', () => {
  it('compiles in strict mode, libraries included, under the names of the document', ONLY_LONG, async (context) => {
    const folder = await folderFor(context);
    useTypeScript5(context);
    const { default: typesOf, astToString } = await import('openapi-typescript');
    const { generateSource } = await import('oazapfts');
    const document = join(ROOT, 'openapi.json');
    await writeFile(join(folder, 'types.ts'), astToString(await typesOf(openApi)));
    await writeFile(join(folder, 'functions.ts'), await generateSource(document));
    await writeFile(join(folder, 'program.ts'), PROGRAM);
    assert.equal(compile(folder), '');
    await writeFile(join(folder, 'program.ts'), PROGRAM.replaceAll("'payments:read'", "'payments'"));
    assert.match(compile(folder), /'"payments"' is not assignable/);
  });
});

async function folderFor(context: TestContext): Promise<string> {
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'generated-'));
  context.after(() => rm(folder, { recursive: true }));
  return folder;
}

/** Generators need the JavaScript API of TypeScript, which version 7 no longer has. One of them brings version 5 along. */
function useTypeScript5(context: TestContext): void {
  const parentURL = import.meta.resolve('oazapfts');
  const hooks = registerHooks({
    resolve: (name, where, next) => next(name, name === 'typescript' ? { ...where, parentURL } : where),
  });
  context.after(() => hooks.deregister());
}

/** The errors of the compiler. */
function compile(folder: string): string {
  const options = '--ignoreConfig --noEmit --strict --skipLibCheck false --allowImportingTsExtensions --target es2022';
  const libraries = ['--module', 'nodenext', '--lib', 'es2023,dom,dom.iterable', '--types', ''];
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const arguments_ = [compiler, ...options.split(' '), ...libraries, join(folder, 'program.ts')];
  const { stdout, stderr } = spawnSync(process.execPath, arguments_, { encoding: 'utf8' });
  return stdout + stderr;
}
