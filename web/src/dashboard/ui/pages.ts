import type { ReactNode } from 'react';
import type { Strings } from '../strings/en.ts';
import { HookGlyph, LinkGlyph, PeopleGlyph, PersonGlyph, RowsGlyph, ShopGlyph } from './glyphs.tsx';

/** The pages with a link. A page without its right is not shown. */
export const PAGES = [
  { to: '/payments', word: 'payments', right: 'payments:read', Glyph: RowsGlyph },
  { to: '/links', word: 'paymentLinks', right: 'links:read', Glyph: LinkGlyph },
  { to: '/merchants', word: 'merchants', right: 'merchants:read', Glyph: ShopGlyph },
  { to: '/webhooks', word: 'webhooks', right: 'webhooks', Glyph: HookGlyph },
  { to: '/team', word: 'team', right: 'people:read', Glyph: PeopleGlyph },
  { to: '/account', word: 'account', right: 'self', Glyph: PersonGlyph },
] as const satisfies readonly { to: string; word: keyof Strings; right: string; Glyph: () => ReactNode }[];
