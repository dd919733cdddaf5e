import { decodeAbiParameters } from 'viem';
import { checksumAddress } from '../../domain/addresses/eip155.ts';
import type { World } from '../../runtime/world.ts';
import type { ExaminedDomain, ExaminedToken, Found } from '../examined.ts';
import type { Blacklist } from '../network.ts';
import { published } from './check.ts';
import { ethCall } from './eth-call.ts';
import { type Examination, findOut } from './examine-network.ts';
import { createLocalSigner } from './local-signer.ts';
import type { Rpc } from './rpc.ts';
import { type Hex, readFlag, readHash, readWord } from './rpc-values.ts';
import { BLACKLISTS, hasCodeCall } from './token-calls.ts';
import { authorizationHash, separatorOf } from './typed-data.ts';
import { address as addressWord, bytes32, functionCall, keccak, uint } from './words.ts';

const CALLS = {
  decimals: functionCall('decimals()')(),
  symbol: functionCall('symbol()')(),
  name: functionCall('name()')(),
  version: functionCall('version()')(),
  separator: functionCall('DOMAIN_SEPARATOR()')(),
  domain: functionCall('eip712Domain()')(),
  state: functionCall('authorizationState(address,bytes32)')(uint(0), uint(0)),
} as const;
/** A function that no token has. If a contract answers it, the answer comes from a fallback function, which answers everything. */
const nothing = functionCall('tillAsksForNothing(address)');
const receive = {
  'eip3009-bytes': functionCall('receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)'),
  'eip3009-vrs': functionCall(
    'receiveWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
  ),
} as const;
type Form = keyof typeof receive;

const USUAL_VERSIONS = ['1', '2'];
const MAX_DECIMALS = 36;
/**
 * The domain fields that wallets are asked to sign, as bits of the `fields` of EIP-5267: name, version, chain id and contract,
 * without salt and extensions.
 */
const OUR_FIELDS = 0x0f;
/** A deadline in the year 2100. */
const NEVER_S = 4_102_444_800;

interface TokenQuestion {
  /** The address of the token, in lower case or with its checksum. */
  readonly address: string;
  /** EIP-712 names and versions of other tokens. The examined token may have the same. */
  readonly usualDomains: readonly { readonly name: string; readonly version: string }[];
}

/** The reason why an address cannot be added as a token to a network's record. A sentence. */
interface NoToken {
  readonly problem: string;
}

/**
 * Reads all facts about a token that calls can show. Rejects with `ChainUnavailableError` if the contract's existence, its
 * decimals or its symbol stays unknown, because the token cannot be added to a record without them.
 */
export async function examineToken(
  world: World,
  { rpc, chainNumber }: Examination,
  { address, usualDomains }: TokenQuestion,
): Promise<ExaminedToken | NoToken> {
  const token = address.toLowerCase() as Hex;
  const shown = checksumAddress(token);
  const where = `${shown} on eip155:${chainNumber}`;
  if (!(await rpc.call(hasCodeCall(token)))) return { problem: `There is no contract at ${where}. Check the address.` };
  const [decimals, symbol, name, blacklist, state] = await Promise.all([
    rpc.call(published(token, CALLS.decimals, readWord)),
    rpc.call(published(token, CALLS.symbol, readText)),
    findOut(rpc.call(published(token, CALLS.name, readText))),
    findOut(findBlacklist(rpc, token)),
    findOut(rpc.call(published(token, CALLS.state, readWord))),
  ]);
  if (decimals === undefined || decimals > BigInt(MAX_DECIMALS)) {
    return { problem: `The contract ${where} is no token: it has no decimals().` };
  }
  if (symbol === undefined)
    return { problem: `The contract ${where} does not tell its symbol. Write its entry by hand.` };
  const domain = await findDomain(rpc, { token, chainNumber, usualDomains, names: namesOf(name, symbol) });
  const authorizations = await findForm(world, rpc, { token, chainNumber, state, domain });
  return { address: shown, decimals: Number(decimals), symbol, name, domain, authorizations, blacklist };
}

function namesOf(name: Found<string>, symbol: string): string[] {
  return name.is === 'found' ? [name.value, symbol] : [symbol];
}

/** Reads a text, which some early tokens return as 32 bytes. Refuses characters that could forge a message. */
function readText(data: Hex): string {
  const isWord = data.length === 66;
  const text = isWord
    ? Buffer.from(data.slice(2).replace(/(00)*$/, ''), 'hex').toString('utf8')
    : (decodeAbiParameters([{ type: 'string' }], data)[0] as string);
  if (!/^[^\p{C}\p{Zl}\p{Zp}]{1,100}$/u.test(text) || text.trim() === '') throw new TypeError('no text to show');
  return text.trim();
}

async function findBlacklist(rpc: Rpc, token: Hex): Promise<Blacklist | undefined> {
  const asked = addressWord(`0x${'11'.repeat(20)}`);
  const answers = (data: Hex) => rpc.call(published(token, data, readFlag)).then((flag) => flag !== undefined);
  if (await answers(nothing(asked))) return undefined;
  const names = Object.keys(BLACKLISTS) as Blacklist[];
  const found = await Promise.all(names.map((each) => answers(BLACKLISTS[each](asked))));
  return names.find((_, index) => found[index]);
}

interface DomainQuestion {
  readonly token: Hex;
  readonly chainNumber: number;
  readonly usualDomains: TokenQuestion['usualDomains'];
  readonly names: readonly string[];
}

const NO_MATCH = 'no usual name and version give its DOMAIN_SEPARATOR()';

/**
 * The EIP-712 domain of a token, by EIP-5267, or else the first usual name and version that give its `DOMAIN_SEPARATOR()`. Missing
 * if the contract has no domain, or a domain of other fields, such as one without a version.
 */
async function findDomain(rpc: Rpc, question: DomainQuestion): Promise<Found<ExaminedDomain>> {
  const { token, chainNumber } = question;
  const [reported, separator, version] = await Promise.all([
    findOut(rpc.call(published(token, CALLS.domain, readDomain))),
    findOut(rpc.call(published(token, CALLS.separator, readHash))),
    findOut(rpc.call(published(token, CALLS.version, readText))),
  ]);
  const isSeparator = (domain: { name: string; version: string }) =>
    separator.is === 'found' && separator.value === separatorText({ ...domain, contract: token }, chainNumber);
  if (reported.is === 'found') {
    const { fields, name, chainId, contract } = reported.value;
    const isOurs = fields === OUR_FIELDS && chainId === BigInt(chainNumber) && contract === token;
    const domain = { name, version: reported.value.version };
    return isOurs && (separator.is !== 'found' || isSeparator(domain))
      ? { is: 'found', value: { ...domain, by: 'eip5267' } }
      : { is: 'missing' };
  }
  if (separator.is !== 'found') return reported.is === 'unknown' ? reported : separator;
  const versions = [...(version.is === 'found' ? [version.value] : []), ...USUAL_VERSIONS];
  const candidates = [
    ...question.names.flatMap((name) => versions.map((each) => ({ name, version: each }))),
    ...question.usualDomains,
  ];
  const match = candidates.find(isSeparator);
  if (match !== undefined) return { is: 'found', value: { ...match, by: 'separator' } };
  const isBare = question.names.some(
    (name) => separator.value === separatorText({ name, contract: token }, chainNumber),
  );
  return isBare ? { is: 'missing' } : { is: 'unknown', reason: NO_MATCH };
}

function readDomain(data: Hex) {
  const types = ['bytes1', 'string', 'string', 'uint256', 'address', 'bytes32'].map((type) => ({ type }));
  const [fields, name, version, chainId, contract] = decodeAbiParameters(types, data) as [
    Hex,
    string,
    string,
    bigint,
    string,
  ];
  return { fields: Number(fields), name, version, chainId, contract: contract.toLowerCase() };
}

function separatorText(domain: Parameters<typeof separatorOf>[0], chainNumber: number): string {
  return `0x${separatorOf(domain, chainNumber).toString('hex')}`;
}

interface FormQuestion {
  readonly token: Hex;
  readonly chainNumber: number;
  readonly state: Found<bigint>;
  readonly domain: Found<ExaminedDomain>;
}

const NOT_PROVEN =
  'authorizationState() answers, but no form of receiveWithAuthorization() accepted a signature of ours, for an amount of zero';

/**
 * The form of EIP-3009 that the token has. The proof is a simulated transfer of zero between two accounts that exist for this
 * call alone: the token accepts the right signature, and refuses a wrong one. So the domain is proven, too.
 */
async function findForm(world: World, rpc: Rpc, question: FormQuestion): Promise<Found<Form>> {
  const { token, chainNumber, state, domain } = question;
  if (state.is !== 'found') return state;
  if (domain.is === 'unknown') return domain;
  if (domain.is === 'missing') return { is: 'unknown', reason: 'its EIP-712 domain is not known' };
  const separator = separatorOf({ ...domain.value, contract: token }, chainNumber).toString('hex');
  const signer = createLocalSigner(hexOf(world.random.bytes(32)));
  const to = hexOf(world.random.bytes(20));
  const terms = { payer: signer.address, collector: to, amount: 0n, deadlineS: NEVER_S };
  const calldata = async (form: Form, signed: Hex, nonce: Hex): Promise<Hex> => {
    const digest = keccak(`1901${separator}${authorizationHash(terms, signed).toString('hex')}`);
    const { r, s, yParity } = await signer.sign(digest);
    const head = [addressWord(terms.payer), addressWord(to), uint(0), uint(0), uint(NEVER_S), bytes32(nonce)];
    const v = 27 + yParity;
    const signature =
      form === 'eip3009-vrs'
        ? [uint(v), uint(r), uint(s)]
        : [uint(7 * 32), uint(65), uint(r), uint(s), v.toString(16).padEnd(64, '0')];
    return receive[form](...head, ...signature);
  };
  const [nonce, other] = [hexOf(world.random.bytes(32)), hexOf(world.random.bytes(32))];
  const isAccepted = (data: Hex) => rpc.call(ethCall({ from: to, to: token, data }, (returned) => 'data' in returned));
  const isProven = async (form: Form) => {
    const isGood = await isAccepted(await calldata(form, nonce, nonce));
    return isGood && !(await isAccepted(await calldata(form, other, nonce)));
  };
  const prove = (form: Form) => findOut(isProven(form).then((isTrue) => (isTrue ? form : undefined)));
  const [bytes, parts] = await Promise.all([prove('eip3009-bytes'), prove('eip3009-vrs')]);
  if (bytes.is === 'found') return bytes;
  if (bytes.is === 'unknown') return bytes;
  return parts.is === 'missing' ? { is: 'unknown', reason: NOT_PROVEN } : parts;
}

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes).toString('hex')}`;
}
