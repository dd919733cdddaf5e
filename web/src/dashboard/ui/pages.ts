import type { ReactNode } from 'react';
import { ClockGlyph } from '../../shared/glyphs.tsx';
import { hasPartner, useSession } from '../queries.ts';
import type { Strings } from '../strings/en.ts';
import {
  BackGlyph,
  HomeGlyph,
  HookGlyph,
  LinkGlyph,
  OutGlyph,
  PeopleGlyph,
  PersonGlyph,
  PulseGlyph,
  RowsGlyph,
  ShopGlyph,
} from './glyphs.tsx';

/**
 * The pages in the navigation. A page is hidden from people without its right. A page with `isOfPartner` is hidden until a partner is
 * selected.
 */
const PAGES = [
  { to: '/', key: 'h', word: 'home', right: 'payments:read', isOfPartner: true, Glyph: HomeGlyph },
  { to: '/payments', key: 'p', word: 'payments', right: 'payments:read', isOfPartner: true, Glyph: RowsGlyph },
  { to: '/refunds', key: 'r', word: 'refunds', right: 'payments:read', isOfPartner: true, Glyph: BackGlyph },
  { to: '/late-money', key: 'e', word: 'lateMoney', right: 'payments:read', isOfPartner: true, Glyph: ClockGlyph },
  { to: '/payouts', key: 'o', word: 'payouts', right: 'payments:read', isOfPartner: true, Glyph: OutGlyph },
  { to: '/links', key: 'l', word: 'paymentLinks', right: 'links:read', isOfPartner: true, Glyph: LinkGlyph },
  { to: '/merchants', key: 'm', word: 'merchants', right: 'merchants:read', isOfPartner: true, Glyph: ShopGlyph },
  { to: '/developers', key: 'd', word: 'developers', right: 'keys:read', isOfPartner: true, Glyph: HookGlyph },
  { to: '/operator', key: 'g', word: 'operator', right: 'operator:read', isOfPartner: false, Glyph: PulseGlyph },
  { to: '/team', key: 't', word: 'team', right: 'people:read', isOfPartner: false, Glyph: PeopleGlyph },
  { to: '/account', key: 'a', word: 'account', right: 'self', isOfPartner: false, Glyph: PersonGlyph },
] as const satisfies readonly {
  to: string;
  /** The page opens when this letter is pressed after G. */
  key: string;
  word: keyof Strings;
  right: string;
  isOfPartner: boolean;
  Glyph: () => ReactNode;
}[];

/** The pages that the person may see. Before selecting a partner, a person of the operator sees only the gateway's pages. */
export function usePagesSeen() {
  const session = useSession();
  const isWithPartner = hasPartner(session);
  return PAGES.filter(({ right, isOfPartner }) => session.rights.includes(right) && (isWithPartner || !isOfPartner));
}
