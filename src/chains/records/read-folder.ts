import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Network } from '../network.ts';
import { fieldName, type ShapeProblem } from './check-shape.ts';
import { type Icon, readIcon } from './icon.ts';
import { type JsonPath, type JsonText, readJson } from './json-text.ts';
import type { NetworkFile } from './network-schema.ts';
import { readRecord } from './read-record.ts';

export interface FiledNetwork {
  readonly network: Network;
  /** The path of the file. */
  readonly file: string;
  /** The place of a field, as the beginning of a sentence: `networks/x.json:12:7 tokens[1].decimals`. */
  readonly placeOf: (path: JsonPath) => string;
  /** The icons of the network, the coin and the tokens, by CAIP-2 or CAIP-19 id. */
  readonly icons: ReadonlyMap<string, Icon>;
}

export interface ReadFolder {
  readonly networks: readonly FiledNetwork[];
  /** The problems of all files, one sentence each, with file, line and column. */
  readonly problems: readonly string[];
}

/** The name of the schema, which is in the same folder as the records that it describes. */
const SCHEMA = 'schema.json';
const MAX_FILES = 500;
/** The maximum size of a file: ten times the size of a network with 500 tokens. */
const MAX_BYTES = 2_000_000;

/** Reads the records of a folder. Every problem of every file is found at once. */
export function readFolder(folder: string): ReadFolder {
  const names = namesIn(folder);
  if (typeof names === 'string') return { networks: [], problems: [names] };
  const read = names.map((name) => readFile(folder, name));
  const networks = read.flatMap(({ filed }) => filed ?? []);
  return { networks, problems: [...read.flatMap(({ problems }) => problems), ...repeated(networks)] };
}

function namesIn(folder: string): string[] | string {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== SCHEMA);
    return names.length > MAX_FILES ? `${folder} has more than ${MAX_FILES} files` : names.sort();
  } catch {
    return `${folder} cannot be read as a folder. Create it, or let this node read it`;
  }
}

interface ReadFile {
  readonly filed?: FiledNetwork;
  readonly problems: readonly string[];
}

function readFile(folder: string, name: string): ReadFile {
  const file = join(folder, name);
  const bytes = bytesOf(file);
  if (bytes === undefined) return { problems: [`${file} cannot be read. Let this node read it, or remove it`] };
  if (bytes.length > MAX_BYTES) return { problems: [`${file} has more than ${MAX_BYTES} bytes`] };
  const read = readJson(bytes.toString('utf8'));
  if ('problem' in read) {
    const { line, column } = read.place;
    const isHalf = read.isCut;
    const way = isHalf ? 'The file is half written: write it again' : 'Correct the JSON there';
    return { problems: [`${file}:${line}:${column} ${read.problem}. ${way}`] };
  }
  const { json } = read;
  const record = readRecord(json.value);
  if ('problems' in record) return { problems: record.problems.map((problem) => placed(file, json, problem)) };
  const icons = readIcons(folder, json.value as NetworkFile, record.network);
  const problems = icons.problems.map((problem) => placed(file, json, problem));
  if (problems.length > 0) return { problems };
  const placeOf = (path: JsonPath) => placed(file, json, { path, text: '' }).trimEnd();
  // Messages about chains give file, line and column without the folder, because more people see them than messages about files.
  const briefly = (path: JsonPath) => placed(name, json, { path, text: '' }).trimEnd();
  const network = { ...record.network, places: placesOf(record.network, briefly) };
  return { filed: { network, file, placeOf, icons: icons.icons }, problems };
}

/** A problem as a sentence with its place: `networks/x.json:12:7 tokens[1].decimals must be …`. */
function placed(file: string, json: JsonText, { path, isKey, text }: ShapeProblem): string {
  const { line, column } = isKey ? json.placeOfKey(path) : json.placeOf(path);
  return `${file}:${line}:${column} ${path.length === 0 ? '' : `${fieldName(path)} `}${text}`;
}

/** The places of the numbers that a chain can contradict: the id of the network, and the decimals of its tokens. */
function placesOf(
  { chainId, coin, assets }: Network,
  placeOf: (path: JsonPath) => string,
): ReadonlyMap<string, string> {
  const tokens = [...assets.keys()].filter((id) => id !== coin.id);
  return new Map([
    [chainId, placeOf(['id'])],
    ...tokens.map((id, index) => [id, placeOf(['tokens', index, 'decimals'])] as const),
  ]);
}

function readIcons(folder: string, file: NetworkFile, { chainId, coin, assets }: Network) {
  const tokens = [...assets.keys()].filter((id) => id !== coin.id);
  const wanted = [
    { id: chainId, icon: file.icon, path: ['icon'] },
    { id: coin.id, icon: file.coin.icon, path: ['coin', 'icon'] },
    ...file.tokens.map(({ icon }, index) => ({ id: tokens[index] ?? '', icon, path: ['tokens', index, 'icon'] })),
  ];
  const icons = new Map<string, Icon>();
  const problems: ShapeProblem[] = [];
  for (const { id, icon: name, path } of wanted) {
    if (name === undefined) continue;
    const bytes = bytesOf(join(folder, name));
    const read = bytes === undefined ? { problem: 'cannot be read. Put the picture there' } : readIcon(bytes);
    if ('icon' in read) icons.set(id, read.icon);
    else problems.push({ path, text: `${name} ${read.problem}` });
  }
  return { icons, problems };
}

function repeated(networks: readonly FiledNetwork[]): string[] {
  const first = new Map<string, string>();
  return networks.flatMap(({ network: { chainId }, file }) => {
    const other = first.get(chainId);
    first.set(chainId, other ?? file);
    return other === undefined ? [] : [`${file} has the network ${chainId}, as ${other} does. Remove one of them`];
  });
}

function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
