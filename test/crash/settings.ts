import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { runTill } from '../../src/cli/till.ts';
import { SANDBOX_TOKENS } from '../../src/sandbox/genesis.ts';

export const NETWORK = 'eip155:31337';
export const TOKEN = SANDBOX_TOKENS.USDC;
/** Short, so that a crash is repaired soon: a dead node's work waits for the end of its leases. */
const LEASE_MS = 1_000;

export type NodeSettings = ReturnType<typeof nodeSettings>;

/** The settings of nodes that serve the harness. */
export function nodeSettings(input: {
  readonly folder: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  /** The port of the server for mail. */
  readonly mailPort?: number;
}) {
  return {
    TILL_HOME: join(input.folder, 'home'),
    TILL_SECRET: randomBytes(32).toString('base64'),
    DATABASE_URL: input.databaseUrl,
    RPC_URLS: `${NETWORK}=${input.rpcUrl}`,
    LEASE_MS: String(LEASE_MS),
    LOG_LEVEL: 'error',
    // Each connection of a new node plans every statement again.
    DATABASE_POOL_SIZE: '5',
    RATE_LIMIT_KEY_PER_SECOND: '100000',
    RATE_LIMIT_ADDRESS_PER_SECOND: '100000',
    SURVEY_ACCOUNTS_PER_KEY: '100000',
    SURVEY_ACCOUNTS_PER_ADDRESS: '100000',
    // One account pays for everything.
    OPEN_PAYMENTS_PER_PAYER: '1000',
    GAS_PER_PAYER_HOUR: '1000000000000',
    ...(input.mailPort !== undefined && {
      SMTP_URL: `smtp://127.0.0.1:${input.mailPort}`,
      MAIL_FROM: 'till@shop.example',
    }),
  };
}

/** The differences between the books and the chain, in words; empty if there are none. */
export async function compareBooks(settings: NodeSettings): Promise<string> {
  let output = '';
  const write = (text: string) => (output += text);
  const exitCode = await runTill(['reconcile'], { env: settings, stdout: { write }, stderr: { write } });
  return exitCode === 0 ? '' : output;
}
