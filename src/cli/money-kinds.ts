import { assetsOf } from '../chains/registry.ts';
import { parseUnit } from '../chains/units.ts';
import { findTransactionId } from '../domain/addresses/families.ts';
import { parseAccount, parseAsset } from '../domain/caip.ts';
import { parseUnits } from '../domain/money.ts';
import { type Kind, Problem } from './kinds.ts';

/** A known asset, by its CAIP-19 id or by network and symbol, such as `eip155:8453/USDC`. */
export const knownAsset: Kind<string> = {
  placeholder: 'asset',
  parse: (raw, _nowMs, registry) => {
    const [network = '', symbol = ''] = raw.split('/');
    const named = assetsOf(registry, network).find((asset) => asset.symbol === symbol);
    if (named !== undefined) return named.id;
    const parsed = parseAsset(raw);
    const known = parsed.ok ? registry.asset(parsed.value.id) : undefined;
    return known?.id ?? new Problem('must be an asset that Till knows, by its CAIP-19 id or as eip155:8453/USDC');
  },
};

/** A CAIP-10 account, because an address alone does not name its network. */
export const account: Kind<{ readonly chainId: string; readonly address: string }> = {
  placeholder: 'caip10',
  parse: (raw) => {
    const parsed = parseAccount(raw);
    return parsed.ok ? parsed.value : new Problem('must be a CAIP-10 account such as eip155:8453:0x…');
  },
};

export const transactionHash: Kind<string> = {
  placeholder: 'hash',
  parse: (raw) =>
    findTransactionId(raw) ?? new Problem('must be a transaction hash, such as 0x and 64 hexadecimal digits'),
};

/** An amount as a whole number of the smallest unit. */
export const units: Kind<bigint> = {
  placeholder: 'units',
  parse: (raw) => parseUnits(raw) ?? new Problem('must be a whole number of the smallest unit, above zero'),
};

/** A unit and an amount in minor units, such as `iso4217/USD=14`. The amount may be zero. */
export const amountIn: Kind<{ readonly unit: string; readonly value: string }> = {
  placeholder: 'unit=amount',
  parse: (raw, _nowMs, registry) => {
    const split = raw.lastIndexOf('=');
    const unit = parseUnit(registry, raw.slice(0, Math.max(split, 0)));
    const value = raw.slice(split + 1);
    if (split < 0 || (value !== '0' && parseUnits(value) === undefined)) {
      return new Problem('must be a unit and an amount in its minor units, such as iso4217/USD=14 for 0.14 USD');
    }
    return unit.ok ? { unit: unit.value.id, value } : new Problem(`has a unit that ${unit.problem}`);
  },
};
