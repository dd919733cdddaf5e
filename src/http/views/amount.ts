import { Type } from 'typebox';
import { storedUnit } from '../../chains/units.ts';
import { nullable } from '../schemas.ts';

/** An amount as clients see it, with what they need to show it. */
export function viewAmount(unitId: string, value: string, decimals: number) {
  const unit = storedUnit(unitId, decimals);
  const { symbol: assetSymbol, name: assetName, token } = unit;
  const display = { assetSymbol, assetName, decimals: unit.decimals };
  if (token?.networkName === undefined) return { unit: unit.id, value, display };
  return { unit: unit.id, value, display: { ...display, networkName: token.networkName } };
}

export const AmountBody = Type.Object({
  unit: Type.String({ examples: ['iso4217/USD'] }),
  value: Type.String({ description: 'Minor units.', examples: ['1000'] }),
  display: Type.Object({
    assetSymbol: Type.String(),
    assetName: Type.String(),
    decimals: Type.Integer({ minimum: 0 }),
    networkName: Type.Optional(Type.String()),
    iconUrl: Type.Optional(nullable(Type.String())),
    networkIconUrl: Type.Optional(nullable(Type.String())),
  }),
});
