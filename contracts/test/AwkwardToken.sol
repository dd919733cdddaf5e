// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/**
 * A token for tests of the Collector: it accepts any signature, and misbehaves with the configured accounts, so that a
 * batch can have one bad item among good ones.
 */
contract AwkwardToken {
    enum Quirk {
        None,
        TakesFee,
        ChargesSender,
        MovesNothing,
        AnswersFalse,
        AnswersNothing,
        AnswersTwo,
        Reverts,
        RevertsWithMegabyte,
        BurnsGas,
        Reenters
    }

    mapping(address account => uint256) public balanceOf;
    mapping(address account => Quirk) public quirkOf;
    bytes private reentry;

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function setQuirk(address account, Quirk quirk) external {
        quirkOf[account] = quirk;
    }

    /// The calldata that the token sends to its caller when it reenters.
    function setReentry(bytes calldata data) external {
        reentry = data;
    }

    /// Every form of EIP-3009: each begins with payer, payee and amount.
    fallback() external {
        (address from, address to, uint256 value) = abi.decode(msg.data[4:100], (address, address, uint256));
        _move(from, to, value, quirkOf[from]);
    }

    function transfer(address to, uint256 value) external returns (uint256) {
        Quirk quirk = quirkOf[to];
        if (quirk == Quirk.AnswersFalse) return 0;
        _move(msg.sender, to, value, quirk);
        if (quirk == Quirk.AnswersTwo) return 2;
        if (quirk == Quirk.AnswersNothing) {
            assembly {
                return(0, 0)
            }
        }
        return 1;
    }

    function _move(address from, address to, uint256 value, Quirk quirk) private {
        if (quirk == Quirk.MovesNothing) return;
        if (quirk == Quirk.Reverts) revert("AwkwardToken: no");
        if (quirk == Quirk.BurnsGas) while (true) {}
        if (quirk == Quirk.Reenters) _reenter();
        if (quirk == Quirk.RevertsWithMegabyte) {
            assembly {
                revert(0, 0x100000)
            }
        }
        balanceOf[from] -= quirk == Quirk.ChargesSender ? value + value / 100 : value;
        balanceOf[to] += quirk == Quirk.TakesFee ? value - value / 100 : value;
    }

    function _reenter() private {
        (bool isDone, bytes memory answer) = msg.sender.call(reentry);
        if (isDone) return;
        assembly {
            revert(add(answer, 0x20), mload(answer))
        }
    }
}
