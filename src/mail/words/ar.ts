import type { Words } from './en.ts';

export const ar: Words = {
  greeting: 'مرحبًا {name}،',
  invitationSubject: 'دعوتك إلى {site}',
  invitationText: 'أنت مدعو إلى لوحة تحكم {site}. سجّل الدخول بهذا الرابط حتى {time}:',
  linkSubject: 'رابط تسجيل الدخول إلى {site}',
  linkText: 'هذا رابطك لتسجيل الدخول إلى لوحة تحكم {site}. يعمل حتى {time}:',
  linkOnce: 'يعمل الرابط مرة واحدة. لا تُعِد توجيهه: كل من يفتحه يسجّل الدخول باسمك.',
  unexpected: 'إذا لم تكن تتوقع هذه الرسالة فيمكنك تجاهلها.',
  receiptSubject: 'إيصالك من {merchant}',
  receiptText: 'لقد دفعت {amount} إلى {merchant}.',
  testPayment: 'كانت هذه دفعة تجريبية. لم تُنقل أي أموال حقيقية.',
  reference: 'المرجع',
  date: 'التاريخ',
  paidWith: 'طريقة الدفع',
  network: 'الشبكة',
  account: 'من الحساب',
  transaction: 'المعاملة',
  items: 'البنود',
  refunds: 'المبالغ المستردة',
  pageLink: 'إيصالك كصفحة للطباعة أو للحفظ بصيغة PDF:',
  verify:
    'للتحقق من هذا الإيصال، ابحث عن المعاملة في أي مستكشف كتل لشبكة {network}. لقد نقلت {amount} من حسابك، وتحتوي على أمرك الموقّع {commitment}.',
  receiptUnexpected: 'أدخل شخص ما هذا العنوان في صفحة الدفع. إذا لم تكن أنت فيمكنك تجاهل هذه الرسالة.',
};
