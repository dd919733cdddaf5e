import { Type } from 'typebox';
import { storedUnit, tokenUnitId } from '../../chains/units.ts';
import { nullable } from '../schemas.ts';
import { networkIconUrl, type Origin, tokenIconUrl } from './icons.ts';

export function viewAmount(origin: Origin, unitId: string, value: string, decimals: number) {
  const unit = storedUnit(origin.registry, unitId, decimals);
  const { symbol: assetSymbol, name: assetName, token } = unit;
  const display = { assetSymbol, assetName, decimals: unit.decimals };
  if (token?.networkName === undefined) return { unit: unit.id, value, display };
  const { networkName, chainId } = token;
  const icons = { iconUrl: tokenIconUrl(origin, token.asset), networkIconUrl: networkIconUrl(origin, chainId) };
  return { unit: unit.id, value, display: { ...display, networkName, ...icons } };
}

export function viewToken(origin: Origin, asset: string, value: string) {
  return viewAmount(origin, tokenUnitId(asset), value, origin.registry.asset(asset)?.decimals ?? 0);
}

export const AmountBody = Type.Object(
  {
    unit: Type.String({ examples: ['iso4217/USD'] }),
    value: Type.String({ description: 'Minor units.', examples: ['1000'] }),
    display: Type.Object(
      {
        assetSymbol: Type.String(),
        assetName: Type.String(),
        decimals: Type.Integer({ minimum: 0 }),
        networkName: Type.Optional(Type.String()),
        iconUrl: Type.Optional(nullable(Type.String())),
        networkIconUrl: Type.Optional(nullable(Type.String())),
      },
      { title: 'AmountDisplay' },
    ),
  },
  { title: 'Amount' },
);
