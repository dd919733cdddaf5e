import type { Registry } from '../../chains/registry.ts';
import { iconedAssets, tokenIconName } from '../views/icons.ts';
import { makeFile, type StaticFile } from './static-files.ts';

/** The content security policy of icons. Scripts in an SVG do not run, even if somebody opens the SVG as a document. */
export const ICON_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox";

/** Dark background colours on which white letters have enough contrast. */
const GROUNDS = ['#2b5f8f', '#6a3f7f', '#2f6b4f', '#8a4a2b', '#4a4f8f', '#7a2f4f', '#3f5f5f', '#5f5f2f'];

/**
 * The pictures of networks and tokens, by their path below `/icons/`. A network or token whose record names no icon gets its
 * initials. The path of a symbol serves the first icon among the tokens with this symbol. A token with another icon has a path of
 * its own.
 */
export function iconFiles(registry: Registry): (path: string) => StaticFile | undefined {
  let files: ReadonlyMap<string, StaticFile> | undefined;
  return (path) => {
    files ??= new Map([...networkFiles(registry), ...tokenFiles(registry)]);
    return files.get(path);
  };
}

function networkFiles(registry: Registry): [path: string, file: StaticFile][] {
  return registry.networks.map(({ chainId, name }) => [
    `network/${chainId.replace(':', '-')}.svg`,
    fileOf(registry, [chainId], name),
  ]);
}

function tokenFiles(registry: Registry): [path: string, file: StaticFile][] {
  const named = iconedAssets(registry);
  const bySymbol = [...Map.groupBy(named, ({ symbol }) => symbol)].map(([symbol, same]): [string, StaticFile] => [
    `token/${symbol}.svg`,
    fileOf(
      registry,
      same.map(({ id }) => id),
      symbol,
    ),
  ]);
  const own = named.flatMap(({ id, symbol }): [string, StaticFile][] => {
    const name = tokenIconName(registry, id);
    return name === symbol ? [] : [[`token/${name}.svg`, fileOf(registry, [id], symbol)]];
  });
  return [...bySymbol, ...own];
}

function fileOf(registry: Registry, ids: readonly string[], name: string): StaticFile {
  const icon = ids.map((id) => registry.icon(id)).find((found) => found !== undefined);
  if (icon === undefined) return makeFile('image/svg+xml; charset=utf-8', Buffer.from(initials(name)));
  return makeFile(icon.type === 'image/svg+xml' ? `${icon.type}; charset=utf-8` : icon.type, icon.bytes);
}

/** A picture with initials: the first letters of the first two words, or the first two letters of the only word. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? ['?'];
  const letters = words.length > 1 ? words.slice(0, 2).map((word) => [...word][0]) : [...(words[0] ?? '?')].slice(0, 2);
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0);
  const style = 'font:600 18px sans-serif;fill:#fff;text-anchor:middle;dominant-baseline:central';
  return `<svg xmlns="http://www.w3.org/2000/svg" width="48" height="48" viewBox="0 0 48 48"><title>${escaped(name)}</title><circle cx="24" cy="24" r="24" fill="${GROUNDS[sum % GROUNDS.length]}"/><text x="24" y="24" style="${style}">${letters.join('')}</text></svg>\n`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
