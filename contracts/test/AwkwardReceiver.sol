// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// A contract that is paid in native coin, for tests: it refuses, returns too much data, or calls back with the coin.
contract AwkwardReceiver {
    enum Quirk {
        Refuses,
        AnswersMegabyte,
        Reenters
    }

    Quirk private immutable quirk;
    bytes private reentry;

    constructor(Quirk quirk_, bytes memory reentry_) {
        quirk = quirk_;
        reentry = reentry_;
    }

    receive() external payable {
        require(quirk != Quirk.Refuses, "AwkwardReceiver: no");
        if (quirk == Quirk.AnswersMegabyte) {
            assembly {
                return(0, 0x100000)
            }
        }
        (bool isDone,) = msg.sender.call{value: msg.value}(reentry);
        require(isDone, "AwkwardReceiver: kept out");
    }
}
