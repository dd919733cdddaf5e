import { dirname, join, resolve } from 'node:path';
import { ChainUnavailableError } from '../chains/chain-errors.ts';
import { type Examination, examineNetwork, openExamination } from '../chains/evm/examine-network.ts';
import { examineToken } from '../chains/evm/examine-token.ts';
import type { ExaminedNetwork, ExaminedToken } from '../chains/examined.ts';
import { draftNetwork, draftToken, recordProblems } from '../chains/records/draft-record.ts';
import type { NetworkFile, TokenFile } from '../chains/records/network-schema.ts';
import { appendToken, createRecordFile, DraftExistsError, fileNameOf } from '../chains/records/write-record.ts';
import type { Registry } from '../chains/registry.ts';
import { parseAsset } from '../domain/caip.ts';
import { findCurrency } from '../domain/currency.ts';
import { ApiError } from '../errors.ts';
import { type Command, command, type Output } from './command.ts';
import type { Context } from './connect.ts';
import { networkSentences, tokenSentences } from './examination-text.ts';
import { id, type Kind, Problem, secretText, text } from './kinds.ts';
import { flag, optional, repeated, required } from './options.ts';

interface TokenAddress {
  readonly address: string;
  readonly peg: string | undefined;
}

const MAX_TOKENS = 50;
const EXAMPLE = '0x5FbDB2315678afecb367f032d93F642f64180aa3';

/** A token's address, optionally with the currency that the token is pegged to. No contract returns this currency. */
const tokenAddress: Kind<TokenAddress> = {
  placeholder: 'address[=currency]',
  parse: (raw) => {
    const [, address = '', peg] = /^([^=]*)(?:=(.*))?$/.exec(raw) ?? [];
    // Chain 1 stands for any EVM chain: addresses have the same form on all of them.
    const asset = parseAsset(`eip155:1/erc20:${address}`);
    if (!asset.ok) return new Problem(asset.problem);
    if (peg !== undefined && findCurrency(peg) === undefined) {
      return new Problem('must name an ISO 4217 currency after "=", such as USD');
    }
    return { address: asset.value.reference, peg };
  },
};

/** The URL of an endpoint. It is not validated, because an error message must not contain it: it may contain a key. */
const endpointUrl: Kind<string> = { ...secretText, placeholder: 'url' };

const dryRun = flag('Print the JSON, and write nothing.');

const addNetwork = command({
  name: 'networks add',
  summary: 'Ask a chain and its tokens what they are, say what payers can do there, and write the file of the network.',
  options: {
    rpc: required(endpointUrl, 'An endpoint of the chain. It is asked, and not stored.'),
    token: repeated(tokenAddress, MAX_TOKENS, 'A token. Name the currency that it is pegged to: 0x…=USD.'),
    name: optional(text, 'Name that payers see. Default: Chain and its number.'),
    coin: optional(text, 'Symbol of the coin that pays for gas. Default: ETH.'),
    test: flag('The money of the network is worthless.'),
    live: flag('The money of the network is real.'),
    'dry-run': dryRun,
  },
  examples: [
    'networks add --rpc http://localhost:8545 --test --name "Own Chain" --dry-run',
    `networks add --rpc https://rpc.example --live --token ${EXAMPLE}=USD`,
  ],
  check: ({ test, live }) => (test === live ? ['give one of --test and --live: a chain does not tell'] : []),
  run: async (context, { rpc, token, name, coin, test, 'dry-run': isDry }) => {
    const folder = isDry ? undefined : folderOf(context);
    return examining(context, rpc, async (examination) => {
      refuseKnown(context.config.registry, `eip155:${examination.chainNumber}`);
      const network = await examineNetwork(examination);
      const tokens = await Promise.all(token.map((each) => findToken(context, examination, network.permit2, each)));
      const mode = test ? 'test' : 'live';
      const entries = tokens.map(({ entry }) => entry);
      const record = draftNetwork(network, { mode, name, coin }, entries);
      refuseProblems(record);
      const findings = [...networkSentences(network, record), ...tokens.flatMap((each) => each.sentences)];
      if (folder === undefined) return dryOutput(record, findings);
      const file = join(folder, fileNameOf(record.id));
      if (!(await writing(file, createRecordFile(file, record)))) {
        throw new ApiError('invalid_state', `${file} exists, and is not overwritten. Remove it or change it by hand.`);
      }
      return { json: { file, record, findings }, text: [...findings, '', ...nextSteps(file, record)].join('\n') };
    });
  },
});

const addToken = command({
  name: 'tokens add',
  summary: 'Ask a token what it is, say how payers can pay with it, and add it to the file of a network of your own.',
  options: {
    network: required({ ...id, placeholder: 'caip2' }, 'The network, of which NETWORKS_DIR has the file.'),
    token: required(tokenAddress, 'The token. Name the currency that it is pegged to: 0x…=USD.'),
    rpc: optional(endpointUrl, 'An endpoint of the chain. Default: the first one in RPC_URLS.'),
    'dry-run': dryRun,
  },
  examples: [`tokens add --network eip155:777777 --token ${EXAMPLE}=USD`],
  run: async (context, { network: chainId, token, rpc, 'dry-run': isDry }) => {
    const file = ownFileOf(context, chainId);
    const url = rpc ?? context.config.rpcUrls?.get(chainId)?.[0];
    if (url === undefined) {
      throw new ApiError('invalid_params', `RPC_URLS does not contain ${chainId}: name an endpoint by --rpc.`);
    }
    return examining(context, url, async (examination) => {
      const found = `eip155:${examination.chainNumber}`;
      if (found !== chainId) throw new ApiError('invalid_params', `The endpoint is on ${found} and not on ${chainId}.`);
      const { permit2 } = await examineNetwork(examination);
      const { entry, sentences } = await findToken(context, examination, permit2, token);
      if (isDry) return dryOutput(entry, sentences);
      const record = await writing(file, appendToken(file, entry, refuseProblems));
      return {
        json: { file, record, findings: sentences },
        text: [...sentences, '', ...nextSteps(file, record)].join('\n'),
      };
    });
  },
});

export const recordCommands: readonly Command[] = [addNetwork, addToken];

function folderOf({ config }: Context): string {
  if (config.networksDir !== undefined) return resolve(config.networksDir);
  throw new ApiError(
    'invalid_state',
    'NETWORKS_DIR is not set. Set it to the folder of your own networks, or print the file by --dry-run.',
  );
}

function ownFileOf(context: Context, chainId: string): string {
  const folder = folderOf(context);
  const file = context.config.registry.fileOf(chainId);
  if (file === undefined) {
    throw new ApiError(
      'invalid_params',
      `Till does not know ${chainId}. Write its file first, by \`till networks add\`.`,
    );
  }
  if (resolve(dirname(file)) === folder) return file;
  throw new ApiError(
    'invalid_state',
    `${chainId} is a built-in network. Copy ${file} to ${folder}, with the pictures that it names, and add the token to the copy.`,
  );
}

function refuseKnown(registry: Registry, chainId: string): void {
  const known = registry.network(chainId);
  if (known === undefined) return;
  const file = registry.fileOf(chainId);
  throw new ApiError(
    'invalid_state',
    `Till knows ${chainId} already, as ${known.name}, from ${file}. \`till tokens add --network ${chainId}\` adds a token to a file of your own.`,
  );
}

async function examining(
  context: Context,
  url: string,
  work: (examination: Examination) => Promise<Output>,
): Promise<Output> {
  const protocol = URL.parse(url)?.protocol ?? '';
  if (!/^https?:$/.test(protocol)) throw new ApiError('invalid_params', '--rpc must be an http or https URL.');
  try {
    const examination = await openExamination(context.world, url);
    try {
      return await work(examination);
    } finally {
      examination.close();
    }
  } catch (error) {
    if (error instanceof ChainUnavailableError)
      throw new ApiError('invalid_state', `${error.message}. Nothing was written.`);
    throw error;
  }
}

async function findToken(
  { world, config }: Context,
  examination: Examination,
  permit2: ExaminedNetwork['permit2'],
  { address, peg }: TokenAddress,
): Promise<{ readonly entry: TokenFile; readonly sentences: readonly string[] }> {
  const examined = await examineToken(world, examination, { address, usualDomains: domainsOf(config.registry) });
  const drafted = 'problem' in examined ? examined : draftToken(examined, { peg, permit2 });
  if ('problem' in drafted) throw new ApiError('invalid_params', `${drafted.problem} Nothing was written.`);
  return { entry: drafted.entry, sentences: tokenSentences(examined as ExaminedToken, drafted.entry) };
}

/** The EIP-712 domains of known tokens, to try with a new token: a bridged token often has the name of its original. */
export function domainsOf(registry: Registry) {
  return registry.assets.flatMap(({ pay }) => (pay !== undefined && 'domain' in pay ? [pay.domain] : []));
}

function refuseProblems(record: NetworkFile): void {
  const problems = recordProblems(record);
  if (problems.length === 0) return;
  throw new ApiError('invalid_params', `The file would be refused, and is not written: ${problems.join('; ')}.`);
}

async function writing<T>(file: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof DraftExistsError) throw new ApiError('invalid_state', error.message);
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || error instanceof ApiError) throw error;
    throw new ApiError('invalid_state', `${file} cannot be written (${code}). Let this account write to its folder.`);
  }
}

/** The output of a dry run. Standard output gets the JSON alone, which can then be redirected to a file. */
function dryOutput(record: NetworkFile | TokenFile, findings: readonly string[]): Output {
  return {
    json: { file: null, record, findings },
    text: JSON.stringify(record, null, 2),
    note: findings.join('\n'),
  };
}

function nextSteps(file: string, { id: chainId }: NetworkFile): string[] {
  return [
    `${file} is written. Look at it, and give every node the same file.`,
    `Name ${chainId} in RPC_URLS, FEE_ACCOUNT, INTERMEDIATE_ACCOUNT and RELAYER_KEYS, and start the nodes again.`,
  ];
}
