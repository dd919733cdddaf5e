import type { Strings } from './en.ts';

export const ja: Strings = {
  amountLabel: '金額（{currency}）',
  bounds: '{minimum} ～ {maximum}',
  badAmount: '{minimum} ～ {maximum} の金額を、桁区切りなしで入力してください（1.000 ではなく 1000 または 1.0）。',
  continueTo: '支払いに進む',
  note: 'このページでは何も請求されません。支払う前に金額をもう一度確認できます。',
  left: '残り：{count}',
  soldOutTitle: '売り切れ',
  soldOutText: 'すべて支払い済みか、現在支払い中です。数分後にもう一度お試しください。',
  expiredTitle: 'このリンクは期限切れです',
  inactiveTitle: 'このリンクでは支払えません',
  closedText: '新しいリンクをショップに依頼してください。',
  merchantTitle: 'ショップは現在支払いを受け付けていません',
  merchantText: '後でもう一度お試しになるか、ショップにお問い合わせください。',
  notFoundTitle: 'このリンクは存在しません',
  notFoundText: 'アドレスを確認するか、新しいリンクをショップに依頼してください。',
  busyTitle: 'ここで開始された支払いが多すぎます',
  busyText: '数分待ってから、もう一度お試しください。このページでは何も請求されません。',
  unavailableTitle: '支払いページは現在利用できません',
  unavailableText: 'しばらくしてからもう一度お試しください。このページでは何も請求されません。',
};
